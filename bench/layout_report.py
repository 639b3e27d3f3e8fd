"""What laying tables out brings, as a result: seconds of batches over scattered tables over those after the advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.bench_result import BarGroup, BenchResult, Column, Grid, Section
from bench.measures import geometric_mean
from bench.points import Point
from bench.report_page import count, seconds, times
from bench.ways import FULL, INCREMENTAL

NOTES = (
    "Tables are loaded with their rows in any of their files. Changes that do not count come first, then those of the "
    "scattered tables. Then the tables go back to what was loaded and are laid out as ivm doctor advises, and the same changes "
    "follow again.",
    "The two are not taken in turns, and a session gets faster with time: refreshes, which read whole tables either way, show "
    "by how much. The last two ratios are against them.",
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What was done to one table, and the seconds that it took."""

    table: str
    detail: str
    statements: tuple[str, ...]
    seconds: float


def describe(
    options: Mapping[str, Any],
    facts: Mapping[str, str],
    advice: Sequence[Advice],
    scattered: Sequence[Point],
    laid_out: Sequence[Point],
    refused: Mapping[str, str],
) -> BenchResult:
    """The result; ``laid_out`` has a point of each view of ``scattered``."""
    after = {point.view: point for point in laid_out}
    entries = tuple(_entry(point, after[point.view]) for point in scattered)
    gain = geometric_mean([entry["ratio"] for entry in entries])
    refreshes = geometric_mean([entry["full_ratio"] for entry in entries])
    return BenchResult(
        bench="layout",
        title=f"Tables laid out as advised, TPC-H SF {options['scale']:g}, {options['kind']} {options['percent']:g} %",
        options=options,
        environment=facts,
        results=entries,
        summary={
            "gain": gain,
            "gain_of_refreshes": refreshes,
            "advice": [asdict(each) for each in advice],
            "refused": dict(refused),
        },
        tiles=(
            (times(gain), "as long over scattered tables, geometric mean of batches"),
            (times(refreshes), "as long: refreshes"),
            (seconds(sum(each.seconds for each in advice)), "to lay the tables out"),
        ),
        sections=(_advice(advice), _views(entries)),
        notes=(*NOTES, *(f"{view} is left out: {why}" for view, why in refused.items())),
    )


def _entry(scattered: Point, laid_out: Point) -> dict[str, Any]:
    before, after = scattered.entry(), laid_out.entry()
    kept = ("ratio_incremental", "rows_read", "bytes_read", "samples")
    return {
        **after,
        "ratio": _ratio(scattered, laid_out, INCREMENTAL),
        "full_ratio": _ratio(scattered, laid_out, FULL),
        "seconds_scattered": before["incremental_seconds"],
        "full_seconds_scattered": before["full_seconds"],
        **{f"{what}_scattered": before[what] for what in kept},
        "equal": before["equal"] and after["equal"],
        "errors": [*before["errors"], *after["errors"]],
    }


def _ratio(scattered: Point, laid_out: Point, way: str) -> float | None:
    before, after = scattered.seconds(way), laid_out.seconds(way)
    return before / after if before and after else None


def _advice(advice: Sequence[Advice]) -> Section:
    columns = (Column("table"), Column("found"), Column("statements"), Column("seconds", True))
    rows = tuple((a.table, a.detail, "; ".join(a.statements), seconds(a.seconds)) for a in advice)
    return Section("Advice", "As ivm doctor tells it, run once.", grid=Grid(columns, rows))


def _views(entries: Sequence[Mapping[str, Any]]) -> Section:
    headings = ("scattered", "laid out", "scattered / laid out", "rows read", "laid out", "refresh / batch", "laid out")
    columns = (Column("view"), *(Column(name, True) for name in headings), Column("equal"))
    rows = tuple(
        (
            entry["view"],
            seconds(entry["seconds_scattered"]),
            seconds(entry["incremental_seconds"]),
            times(entry["ratio"]),
            *(count(entry[key]) for key in ("rows_read_scattered", "rows_read")),
            *(times(entry[key]) for key in ("ratio_incremental_scattered", "ratio_incremental")),
            "✓" if entry["equal"] else "✗",
        )
        for entry in entries
    )
    bars = tuple(
        BarGroup(
            entry["view"],
            (("full", entry["seconds_scattered"]), ("delta", entry["incremental_seconds"])),
            entry["ratio"],
        )
        for entry in entries
        if entry["ratio"] is not None
    )
    return Section("Batches", "Medians.", bars=bars, grid=Grid(columns, rows), other="over scattered tables")
