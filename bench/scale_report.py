"""The same change at several scale factors as a result: by which factor batches and full refreshes grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench.bench_result import BenchResult, Column, Grid, Line, Lines, Section
from bench.measures import geometric_mean
from bench.points import Point
from bench.report_page import count, seconds, times
from bench.ways import FULL, INCREMENTAL, WAYS

NOTES = (
    "Each scale factor is a database of its own, loaded and built in the same Spark session. Changes that are not counted come "
    "first: six at the smallest, while the session gets faster, and one at each other.",
    "Growth is the batch's seconds at the largest scale factor over those at the smallest: 1 would be independent of the base.",
    "Each repetition makes a further change of the same size: nothing is brought back.",
)


def describe(
    options: Mapping[str, Any], facts: Mapping[str, str], points: Sequence[Point], refused: Mapping[str, str]
) -> BenchResult:
    """The result; a view that is missing at one of the scale factors has no growth."""
    scales = sorted({point.trials[0].scale for point in points})
    views = list(dict.fromkeys(point.view for point in points))
    at = {(point.view, point.trials[0].scale): point for point in points}
    growths = {way: {view: _growth(at, view, scales, way) for view in views} for way in WAYS}

    def means_of(*ends: float) -> dict[str, float | None]:
        return {way: geometric_mean([_growth(at, view, ends, way) for view in views]) for way in WAYS}

    means = means_of(*scales)
    steps = {f"{low:g} to {high:g}": means_of(low, high) for low, high in pairwise(scales)}
    between = f"from SF {scales[0]:g} to SF {scales[-1]:g}"
    return BenchResult(
        bench="scale",
        title=f"A change of {options['orders']} orders {between}",
        options=options,
        environment=facts,
        results=tuple(point.entry() for point in points),
        summary={"growth": means, "growth_by_step": steps, "growth_by_view": growths, "refused": dict(refused)},
        tiles=(
            (times(means[INCREMENTAL]), f"growth of an incremental batch {between}"),
            *((times(grown[INCREMENTAL]), f"of it from SF {step}") for step, grown in steps.items() if len(steps) > 1),
            (times(means[FULL]), "growth of a full refresh"),
            (times(scales[-1] / scales[0]), "growth of the base tables"),
        ),
        sections=(
            Section(
                "Incremental seconds by scale factor",
                "Medians; every view has a line.",
                lines=Lines(
                    tuple(
                        Line(
                            v, "other", tuple((s, at[v, s].seconds(INCREMENTAL) or 0.0) for s in scales if (v, s) in at)
                        )
                        for v in views
                    ),
                    "scale factor",
                    "seconds",
                    logarithmic=True,
                ),
                grid=_grid(at, views, scales, growths[INCREMENTAL]),
            ),
        ),
        notes=(*NOTES, *(f"{view} is left out: {why}" for view, why in refused.items())),
    )


def _growth(at: Mapping[tuple[str, float], Point], view: str, scales: Sequence[float], way: str) -> float | None:
    ends = [at[view, scale].seconds(way) if (view, scale) in at else None for scale in (scales[0], scales[-1])]
    return ends[1] / ends[0] if ends[0] and ends[1] else None


def _grid(
    at: Mapping[tuple[str, float], Point],
    views: Sequence[str],
    scales: Sequence[float],
    growths: Mapping[str, float | None],
) -> Grid:
    columns = [Column("view")]
    for scale in scales:
        columns += [Column(f"{name} at {scale:g}", True) for name in ("incremental", "full", "rows read")]
    rows = []
    for view in views:
        cells = [view]
        for scale in scales:
            point = at.get((view, scale))
            read = point.entry()["rows_read"] if point else None
            cells += [seconds(point.seconds(way) if point else None) for way in (INCREMENTAL, FULL)]
            cells.append(count(read))
        rows.append((*cells, times(growths[view])))
    return Grid((*columns, Column("growth", True)), tuple(rows))
