"""The floor's measurements as a result: what the engine adds to the commands that any solution would need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.bench_result import BarGroup, BenchResult, Column, Grid, Section
from bench.measures import geometric_mean, middle, spread
from bench.meter import Cost
from bench.report_page import count, seconds, span, times

TARGET_FACTOR, TARGET_SECONDS = 1.5, 0.3
NOTES = (
    "The floor is one statement written by hand: it reads table_changes of the same versions once and appends to, or merges "
    "into, a table with the same rows; no bookkeeping, nothing that makes it exactly once.",
    "Both take turns in going first; after each the two tables are compared. The first round is not counted.",
    "Each repetition inserts a further set of orders of the same size: nothing is brought back.",
)


@dataclass(frozen=True, slots=True)
class FloorTrial:
    """One change of one view: the hand-written statement and the engine's batch."""

    view: str
    strategy: str
    floor: Cost
    ours: Cost
    rows_changed: int
    equal: bool


def describe(options: Mapping[str, Any], facts: Mapping[str, str], trials: Sequence[FloorTrial]) -> BenchResult:
    """The result."""
    groups = {view: [trial for trial in trials if trial.view == view] for view in dict.fromkeys(t.view for t in trials)}
    entries = tuple(_entry(view, group) for view, group in groups.items())
    within = sum(entry["within_target"] for entry in entries)
    mean = geometric_mean([entry["over_floor"] for entry in entries])
    worst = max(entries, key=lambda entry: entry["over_floor"])
    return BenchResult(
        bench="floor",
        title=f"A batch of one view against its floor, TPC-H SF {options['scale']:g}",
        options=options,
        environment=facts,
        results=entries,
        summary={"over_floor": mean, "worst_view": worst["view"], "within_target": within, "views": len(entries)},
        tiles=(
            (times(mean), "the floor's seconds, geometric mean: below 1 is faster than by hand"),
            (times(worst["over_floor"]), f"the worst view: {worst['view']}"),
            (f"{within} of {len(entries)}", f"within {TARGET_FACTOR:g} × the floor + {TARGET_SECONDS:g} s"),
        ),
        sections=(_section(entries),),
        notes=NOTES,
    )


def _entry(view: str, trials: Sequence[FloorTrial]) -> dict[str, Any]:
    ours = middle([trial.ours.seconds for trial in trials]) or 0.0
    floor = middle([trial.floor.seconds for trial in trials]) or 0.0
    over = [trial.ours.seconds / trial.floor.seconds for trial in trials]
    return {
        "view": view,
        "strategy": trials[-1].strategy,
        "full_seconds": None,
        "incremental_seconds": ours,
        "auto_seconds": None,
        "floor_seconds": floor,
        "overhead_seconds": ours - floor,
        "ratio": middle([1 / ratio for ratio in over]),
        "over_floor": middle(over),
        "over_floor_spread": spread(over),
        "within_target": ours <= TARGET_FACTOR * floor + TARGET_SECONDS,
        "rows_changed": middle([trial.rows_changed for trial in trials]),
        "rows_read": middle([trial.ours.rows_read for trial in trials]),
        "rows_read_floor": middle([trial.floor.rows_read for trial in trials]),
        "bytes_written": middle([trial.ours.bytes_written for trial in trials]),
        "bytes_written_floor": middle([trial.floor.bytes_written for trial in trials]),
        "samples": {"floor": [t.floor.seconds for t in trials], "incremental": [t.ours.seconds for t in trials]},
        "equal": all(trial.equal for trial in trials),
    }


def _section(entries: Sequence[Mapping[str, Any]]) -> Section:
    headings = ("floor", "batch", "batch / floor", "spread", "rows changed", "bytes written", "by hand")
    columns = (Column("view"), *(Column(name, True) for name in headings), Column("equal"))
    rows = tuple(
        (
            entry["view"],
            seconds(entry["floor_seconds"]),
            seconds(entry["incremental_seconds"]),
            times(entry["over_floor"]),
            span(entry["over_floor_spread"]),
            *(count(entry[key]) for key in ("rows_changed", "bytes_written", "bytes_written_floor")),
            "✓" if entry["equal"] else "✗",
        )
        for entry in entries
    )
    bars = tuple(
        BarGroup(e["view"], (("delta", e["incremental_seconds"]), ("full", e["floor_seconds"])), e["ratio"])
        for e in entries
    )
    return Section(
        "Batch and floor",
        "Seconds of the engine's batch above those of the statement written by hand; medians.",
        bars=bars,
        grid=Grid(columns, rows),
        other="by hand",
    )
