"""What each way brings as a result: the seconds of batches without it over those with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.bench_result import BenchResult, Column, Grid, Section
from bench.measures import geometric_mean, middle, spread
from bench.meter import Cost
from bench.report_page import count, seconds, span, times
from bench.switches import Switch

NOTES = (
    "A view keeps the way, its copy goes without it, after the same changes; they take turns in going first, and "
    "after each their rows are compared. The first change of each way is not counted.",
    "Times are of whole batches: above 1 the way makes them faster. The ways are not independent of each other.",
)


@dataclass(frozen=True, slots=True)
class WayTrial:
    """One change, one view (or all in one run): a batch with the way, and one without."""

    way: str
    view: str
    on: Cost
    off: Cost
    equal: bool


def describe(
    options: Mapping[str, Any], facts: Mapping[str, str], switches: Sequence[Switch], trials: Sequence[WayTrial]
) -> BenchResult:
    """The result."""
    groups: dict[tuple[str, str], list[WayTrial]] = {}
    for trial in trials:
        groups.setdefault((trial.way, trial.view), []).append(trial)
    entries = tuple(_entry(way, view, group) for (way, view), group in groups.items())
    means = {s.name: geometric_mean([e["ratio"] for e in entries if e["way"] == s.name]) for s in switches}
    best = max(means, key=lambda way: means[way] or 0.0)
    return BenchResult(
        bench="ways",
        title=f"What each way brings, TPC-H SF {options['scale']:g}, {options['kind']} {options['percent']:g} %",
        options=options,
        environment=facts,
        results=entries,
        summary={"without_over_with": means},
        tiles=((times(means[best]), f"as long without {best}, geometric mean"),),
        sections=(_summary(switches, means, entries), _details(entries)),
        notes=NOTES,
    )


def _entry(way: str, view: str, trials: Sequence[WayTrial]) -> dict[str, Any]:
    ratios = [trial.off.seconds / trial.on.seconds for trial in trials]
    return {
        "way": way,
        "view": view,
        "strategy": "incremental",
        "full_seconds": None,
        "incremental_seconds": middle([trial.on.seconds for trial in trials]),
        "auto_seconds": None,
        "seconds_without": middle([trial.off.seconds for trial in trials]),
        "ratio": middle(ratios),
        "ratio_spread": spread(ratios),
        "rows_changed": None,
        "rows_read": middle([trial.on.rows_read for trial in trials]),
        "rows_read_without": middle([trial.off.rows_read for trial in trials]),
        "samples": {"with": [t.on.seconds for t in trials], "without": [t.off.seconds for t in trials]},
        "equal": all(trial.equal for trial in trials),
    }


def _summary(
    switches: Sequence[Switch], means: Mapping[str, float | None], entries: Sequence[Mapping[str, Any]]
) -> Section:
    rows = []
    for switch in switches:
        ratios = sorted(entry["ratio"] for entry in entries if entry["way"] == switch.name)
        if ratios:
            rows.append((switch.name, times(means[switch.name]), span((ratios[0], ratios[-1])), switch.way))
    columns = (Column("way"), Column("without / with", True), Column("views", True), Column("what it does"))
    return Section("Ways", "Geometric mean of the views' medians, least and most.", grid=Grid(columns, tuple(rows)))


def _details(entries: Sequence[Mapping[str, Any]]) -> Section:
    headings = ("with", "without", "without / with", "spread", "rows read with", "without")
    columns = (Column("way"), Column("view"), *(Column(name, True) for name in headings), Column("equal"))
    rows = tuple(
        (
            entry["way"],
            entry["view"],
            seconds(entry["incremental_seconds"]),
            seconds(entry["seconds_without"]),
            times(entry["ratio"]),
            span(entry["ratio_spread"]),
            *(count(entry[key]) for key in ("rows_read", "rows_read_without")),
            "✓" if entry["equal"] else "✗",
        )
        for entry in entries
    )
    return Section("Views", "Medians of whole batches.", grid=Grid(columns, rows))
