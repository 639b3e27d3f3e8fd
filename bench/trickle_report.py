"""Many small batches as a result: percentiles, growth over the run, the files and logs left, without upkeep and with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.bench_result import BenchResult, Column, Grid, Line, Lines, Section
from bench.measures import growth, percentile
from bench.report_page import seconds

ALL_VIEWS = "all views"
PERCENTILES = (50, 95, 99)
COMPACTED_EVERY = 100  # batches, with upkeep: the base tables are compacted, as their owner would in a nightly job
REFRESHES = 5  # by plain Spark after all batches, whose median the ratio takes
NOTES = (
    "A batch is timed from fixing the cut to the record of the last view, upkeep included where it is on; making the change "
    "is not. The first batches are not counted.",
    "Growth is the slope of a line through all batches times their number, over the line's start: 10 % means that the last "
    "batch takes a tenth longer than the first. A session gets faster for some hundred batches, while Java compiles what they "
    "do, which would hide a growth: that of the second half of the batches is told apart.",
    "Upkeep puts the small files of a view's state together and writes checkpoints of its log, within the batches' time; base "
    f"tables are compacted by OPTIMIZE every {COMPACTED_EVERY} batches, as their owner would in a job beside it. It "
    "changes no row, which the comparison at the end shows too.",
    f"A ratio is the median of {REFRESHES} full refreshes by plain Spark after the last batch over the middle batch. Rows are "
    "compared once, after all batches.",
)


@dataclass(frozen=True, slots=True)
class Trickle:
    """One view, or all in one run, through all batches. ``commits_to_read``: of the state's log after its checkpoint."""

    view: str
    upkeep: bool
    strategy: str
    seconds: tuple[float, ...]
    full_seconds: float
    rows_changed: float
    files: int
    commits_to_read: int
    equal: bool


def describe(options: Mapping[str, Any], facts: Mapping[str, str], found: Sequence[Trickle]) -> BenchResult:
    """The result."""
    entries = tuple(_entry(one) for one in found)
    whole = [entry for entry in entries if entry["view"] == ALL_VIEWS]
    return BenchResult(
        bench="trickle",
        title=f"{options['batches']} batches of {options['orders']} orders, TPC-H SF {options['scale']:g}",
        options=options,
        environment=facts,
        results=entries,
        summary={_name(entry["upkeep"]): {key: entry[key] for key in SUMMARY} for entry in whole},
        tiles=tuple(
            tile
            for entry in whole
            for tile in (
                (_share(entry["growth"]), f"growth of a run's time over all batches, {_name(entry['upkeep'])}"),
                (_share(entry["growth_of_second_half"]), f"growth over their second half, {_name(entry['upkeep'])}"),
                (seconds(entry["p50"]), f"the middle run, {_name(entry['upkeep'])}"),
            )
        ),
        sections=(_section(found, entries),),
        notes=NOTES,
    )


SUMMARY = ("p50", "p95", "p99", "growth", "growth_of_second_half", "files")


def _entry(one: Trickle) -> dict[str, Any]:
    middle = percentile(one.seconds, 50)
    return {
        "view": one.view,
        "upkeep": one.upkeep,
        "strategy": one.strategy,
        "full_seconds": one.full_seconds,
        "incremental_seconds": middle,
        "auto_seconds": middle,
        "ratio": one.full_seconds / middle if middle else None,
        "rows_changed": one.rows_changed,
        "rows_read": None,
        **{f"p{percent}": percentile(one.seconds, percent) for percent in PERCENTILES},
        "growth": growth(one.seconds),
        "growth_of_second_half": growth(one.seconds[len(one.seconds) // 2 :]),
        "files": one.files,
        "commits_to_read": one.commits_to_read,
        "samples": list(one.seconds),
        "equal": one.equal,
    }


def _section(found: Sequence[Trickle], entries: Sequence[Mapping[str, Any]]) -> Section:
    lines = tuple(
        Line(_name(one.upkeep), "delta" if one.upkeep else "full", _smoothed(one.seconds))
        for one in found
        if one.view == ALL_VIEWS
    )
    names = ("p50", "p95", "p99", "growth", "second half", "files", "commits to read")
    columns = (Column("view"), Column("upkeep"), *(Column(name, True) for name in names), Column("equal"))
    rows = tuple(
        (
            entry["view"],
            "yes" if entry["upkeep"] else "no",
            *(seconds(entry[f"p{percent}"]) for percent in PERCENTILES),
            _share(entry["growth"]),
            _share(entry["growth_of_second_half"]),
            str(entry["files"]),
            str(entry["commits_to_read"]),
            "✓" if entry["equal"] else "✗",
        )
        for entry in entries
    )
    return Section(
        "Batch after batch",
        "Seconds of a run of all views by its number; where there are many, each point is the middle of its neighbours.",
        lines=Lines(lines, "batch", "seconds"),
        grid=Grid(columns, rows),
    )


def _smoothed(values: Sequence[float], points: int = 100) -> tuple[tuple[float, float], ...]:
    """At most so many points, each the median of a stretch."""
    length = max(1, -(-len(values) // points))
    stretches = [values[start : start + length] for start in range(0, len(values), length)]
    return tuple((place * length + 1.0, percentile(stretch, 50)) for place, stretch in enumerate(stretches))


def _name(upkeep: bool) -> str:
    return "with upkeep" if upkeep else "without upkeep"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:+.0%}"
