"""Points of the TPC-H bench as a result: the geometric mean, the worst view, break-even percentages, tables and charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.bench_result import BarGroup, BenchResult, Column, Grid, Line, Lines, Section
from bench.measures import break_even, geometric_mean
from bench.points import Point
from bench.report_page import count, seconds, span, times
from bench.ways import AUTO, FULL, INCREMENTAL

NOTES = (
    "A full refresh is CREATE OR REPLACE TABLE … AS the view's query, by plain Spark in the same warm session.",
    "Every view is built twice: once with the policy auto, once with the policy incremental. After each change the three "
    "ways take turns in going first, each view in a run of its own; after all three, both copies are compared with the "
    "full refresh's table, as bags.",
    "Between repetitions a further change of the same size is made. Where those run out, and between sizes, the base "
    "tables are brought back by RESTORE and the views are brought there, untimed.",
    "A ratio is full seconds over the other's, taken in each repetition; shown is the median with the smallest and largest. "
    "A first change and its trials, and a first build, are not counted.",
    "Read are the rows and bytes of Spark's stages, and of each file that the engine's own process opens, whole. Written are "
    "those of the data files of all commits, of a batch those of the view's auxiliaries too; bytes count change files as well.",
    "All views in one run: as many at a time as there are cores (four at most), against refreshes one after the other, each on "
    "all cores.",
)


def describe(
    options: Mapping[str, Any],
    facts: Mapping[str, str],
    points: Sequence[Point],
    refused: Mapping[str, str],
    group: str,
) -> BenchResult:
    """The result. ``group``: the name under which all views in one run are among the points."""
    percents = sorted({point.percent for point in points})
    views = [point for point in points if point.view != group]
    summary: dict[str, Any] = {
        "by_percent": [_summary(p, [v for v in views if v.percent == p], _find(points, group, p)) for p in percents],
        "break_even_percent": {name: _break_even(views, name) for name in dict.fromkeys(v.view for v in views)}
        if len(percents) > 1
        else {},
        "refused": dict(refused),
    }
    headline = next((s for s in summary["by_percent"] if s["percent"] > 0), summary["by_percent"][0])
    wrong = sum(not point.equal for point in views)
    return BenchResult(
        bench="tpch",
        title=f"TPC-H SF {options['scale']:g}: {options['kind']} of {headline['percent']:g} %",
        options=options,
        environment=facts,
        results=tuple(point.entry() for point in points),
        summary=summary,
        tiles=(
            (times(headline["geometric_mean"]), "full refresh over auto, geometric mean"),
            (times(headline["worst_ratio"]), f"the worst view: {headline['worst_view']}"),
            *(((times(headline["group_ratio"]), "all views in one run"),) if headline["group_ratio"] else ()),
            (f"{len(views) - wrong} of {len(views)}", "points equal to the query each time"),
        ),
        sections=(
            *(part for size in percents for part in _sections([p for p in points if p.percent == size], size, group)),
            *_curves(views),
        ),
        notes=(
            *NOTES,
            *(f"{view} is left out: {why}" for view, why in refused.items()),
            *dict.fromkeys(f"{trial.view} failed: {trial.error}" for p in points for trial in p.trials if trial.error),
        ),
    )


def _summary(percent: float, points: Sequence[Point], group: Point | None) -> dict[str, Any]:
    rated = [(ratio, point.view) for point in points if (ratio := point.ratio()) is not None]
    worst = min(rated, default=(None, ""))
    return {
        "percent": percent,
        "geometric_mean": geometric_mean([ratio for ratio, _ in rated]),
        "geometric_mean_incremental": geometric_mean([point.ratio(INCREMENTAL) for point in points]),
        "worst_ratio": worst[0],
        "worst_view": worst[1],
        "slower_than_full": sorted(view for ratio, view in rated if ratio < 1),
        "group_ratio": group.ratio() if group else None,
        "group_seconds": group.seconds(AUTO) if group else None,
        "full_seconds": sum(point.seconds(FULL) or 0.0 for point in points),
    }


def _find(points: Sequence[Point], view: str, percent: float) -> Point | None:
    return next((point for point in points if (point.view, point.percent) == (view, percent)), None)


def _break_even(points: Sequence[Point], view: str) -> float | None:
    return break_even({p.percent: ratio for p in points if p.view == view and (ratio := p.ratio(INCREMENTAL))})


def _sections(points: Sequence[Point], percent: float, group: str) -> tuple[Section, Section]:
    """The seconds of one size of change, and what was read and written."""
    ordered = sorted(points, key=lambda point: -(point.ratio() or 0.0))
    bars = tuple(
        BarGroup(p.view, (("delta", p.seconds(AUTO) or 0.0), ("full", p.seconds(FULL) or 0.0)), p.ratio())
        for p in ordered
        if p.view != group
    )
    columns = (Column("view"), Column("auto picked"), *(Column(name, True) for name in HEADINGS), Column("equal"))
    seconds_taken = Section(
        f"{percent:g} % changed",
        "Seconds of auto above those of a full refresh; medians.",
        bars=bars,
        grid=Grid(columns, tuple(_row(point) for point in ordered)),
    )
    amounts = Section(
        f"Read and written, {percent:g} % changed",
        "By auto, and by a full refresh; medians.",
        grid=Grid((Column("view"), *(Column(name, True) for name in AMOUNTS)), tuple(map(_amounts, ordered))),
    )
    return seconds_taken, amounts


COUNTS = ("rows_read", "bytes_read", "rows_written", "bytes_written")  # of auto and of a refresh beside each other
AMOUNTS = tuple(
    f"{what}{by}" for what in ("rows read", "MB read", "rows written", "MB written") for by in ("", ", full")
)
HEADINGS = ("full", "incremental", "auto", "ratio", "spread", "rows changed")


def _row(point: Point) -> tuple[str, ...]:
    entry = point.entry()
    low_high = entry["ratio_spread"]
    return (
        point.view,
        point.strategy,
        *(seconds(point.seconds(way)) for way in (FULL, INCREMENTAL, AUTO)),
        times(point.ratio()),
        span(low_high) if low_high else "–",
        count(entry["rows_changed"]),
        "✓" if point.equal else "✗",
    )


def _amounts(point: Point) -> tuple[str, ...]:
    entry = point.entry()
    return point.view, *(_amount(entry[f"{what}{way}"], what) for what in COUNTS for way in ("_auto", "_full"))


def _curves(points: Sequence[Point]) -> tuple[Section, ...]:
    """Ratio over the size of the change, one line a view; none where only one size above 0 was measured."""
    names = list(dict.fromkeys(point.view for point in points))
    lines = tuple(
        Line(
            name,
            "other",
            tuple((p.percent, p.ratio(INCREMENTAL) or 0.0) for p in points if p.view == name and p.percent),
        )
        for name in names
    )
    if not any(len(line.points) > 1 for line in lines):
        return ()
    smallest = min(point.percent for point in points if point.percent)
    cells = tuple((name, _percent_text(_break_even(points, name), smallest)) for name in names)
    return (
        Section(
            "Where a full refresh begins to win",
            "Full refresh over incremental, by percent of the orders changed; below the line a full refresh is faster.",
            lines=Lines(lines, "percent changed", "times faster", logarithmic=True, level=1.0, logarithmic_up=True),
            grid=Grid((Column("view"), Column("breaks even at", True)), cells),
        ),
    )


def _percent_text(value: float | None, smallest: float) -> str:
    if value is None:
        return "not reached"
    return f"below {smallest:g} %" if value <= smallest else f"{value:.2g} %"


def _amount(value: float | None, what: str) -> str:
    if value is not None and what.startswith("bytes"):
        return f"{value / 1e6:,.1f}"
    return count(value)
