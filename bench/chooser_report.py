"""The chooser's picks as a result: right or wrong by what was measured, and the seconds that wrong ones cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.bench_result import BarGroup, BenchResult, Column, Grid, Section
from bench.measures import middle
from bench.points import NOISE_SECONDS, Point
from bench.report_page import seconds
from bench.ways import AUTO, FULL, INCREMENTAL, MIXED, NOTHING

NOISE_SHARE = 0.05
NOTES = (
    "Every trial in which the view's tables changed is one decision. The ways are batches (measured with a copy that is never "
    "refreshed), a refresh, and, for a view with auxiliaries of which auto refreshes some, what it then did: each with its "
    "median seconds at the view, kind and size of change. The fastest refresh is the less of two medians: plain Spark's, and "
    "auto's own where it refreshed.",
    f"A pick is right whose way is the fastest, or within {NOISE_SHARE:.0%} or {NOISE_SECONDS:g} s of it. Regret is what it "
    "took beyond the fastest, a refresh by auto's own median; its share is of all decisions' fastest ways.",
    "Auto learns from its own batches, which include the untimed ones that bring views back to the loaded state between "
    "sizes; sizes come in a shuffled order, the same in every run.",
    "A full refresh is CREATE OR REPLACE TABLE … AS the view's query, by plain Spark in the same warm session.",
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The picks at one point: ``right`` of ``decisions``, and the seconds that the others cost together.

    ``ways``: the seconds of each way, of a mixed one too where auto went it.
    """

    point: Point
    ways: Mapping[str, float]
    decisions: int
    right: int
    strictly_right: int
    regret: float
    best: float


def judge(point: Point) -> Judgement | None:
    """The picks of a point's trials against its medians; None where a way was not measured, or nothing was to decide."""
    picks = [trial.pick for trial in point.trials if AUTO in trial.costs and trial.pick != NOTHING]
    full, incremental = point.seconds(FULL), point.seconds(INCREMENTAL)
    if full is None or incremental is None or not picks:
        return None
    refreshed, mixed = _auto_seconds(point, FULL), _auto_seconds(point, MIXED)
    ways = {FULL: full if refreshed is None else min(full, refreshed), INCREMENTAL: incremental}
    if mixed is not None:
        ways[MIXED] = mixed
    best = min(ways.values())
    taken = ways if refreshed is None else {**ways, FULL: refreshed}
    gaps = [ways[pick] - best for pick in picks]
    noise = max(NOISE_SECONDS, NOISE_SHARE * best)
    return Judgement(
        point,
        ways,
        decisions=len(gaps),
        right=sum(gap <= noise for gap in gaps),
        strictly_right=gaps.count(0.0),
        regret=sum(taken[pick] - best for pick in picks),
        best=best * len(gaps),
    )


def _auto_seconds(point: Point, pick: str) -> float | None:
    """The median of auto's seconds where it picked this."""
    return middle([t.costs[AUTO].seconds for t in point.trials if AUTO in t.costs and t.pick == pick])


def describe(
    options: Mapping[str, Any], facts: Mapping[str, str], points: Sequence[Point], refused: Mapping[str, str]
) -> BenchResult:
    """The result."""
    judged = [found for point in points if (found := judge(point)) is not None]
    costliest_first = sorted(judged, key=lambda one: -one.regret)
    decisions = sum(one.decisions for one in judged)
    right, strict = sum(one.right for one in judged), sum(one.strictly_right for one in judged)
    regret, best = sum(one.regret for one in judged), sum(one.best for one in judged)
    share = {"right": right, "strictly_right": strict}
    summary: dict[str, Any] = {
        "decisions": decisions,
        **share,
        **{f"{name}_share": number / decisions if decisions else None for name, number in share.items()},
        "regret_seconds": regret,
        "regret_share": regret / best if best else None,
        "refused": dict(refused),
    }
    return BenchResult(
        bench="chooser",
        title=f"What auto picks, TPC-H SF {options['scale']:g}",
        options=options,
        environment=facts,
        results=tuple(_entry(one) for one in judged) + tuple(point.entry() for point in points if judge(point) is None),
        summary=summary,
        tiles=(
            (f"{right / decisions:.0%}" if decisions else "–", f"of {decisions} decisions right"),
            (seconds(regret), "lost by the others together"),
            (f"{regret / best:.1%}" if best else "–", "of the seconds that the faster ways take"),
        ),
        sections=(_regrets(costliest_first), _section(costliest_first)),
        notes=(*NOTES, *(f"{view} is left out: {why}" for view, why in refused.items())),
    )


def _entry(one: Judgement) -> dict[str, Any]:
    return {
        **one.point.entry(),
        "picks": [trial.pick for trial in one.point.trials],
        "seconds_of_ways": dict(one.ways),
        "decisions": one.decisions,
        "right": one.right,
        "regret_seconds": one.regret,
    }


def _section(judged: Sequence[Judgement]) -> Section:
    names = ("percent", "full", "incremental", "mixed", "right", "regret")
    columns = (
        Column("view"),
        Column("change"),
        *(Column(name, True) for name in names),
        Column("picked"),
        Column("equal"),
    )
    rows = tuple(
        (
            one.point.view,
            one.point.trials[0].change,
            f"{one.point.percent:g}",
            *(seconds(one.ways.get(way)) for way in (FULL, INCREMENTAL, MIXED)),
            f"{one.right} of {one.decisions}",
            seconds(one.regret),
            ", ".join(trial.pick for trial in one.point.trials),
            "✓" if one.point.equal else "✗",
        )
        for one in judged
    )
    return Section("Every point, the costliest first", "Medians; one pick for each trial.", grid=Grid(columns, rows))


def _regrets(judged: Sequence[Judgement]) -> Section:
    """The points where something was lost, a decision's seconds on average."""
    lost = [one for one in judged if one.regret > 0]
    bars = tuple(
        BarGroup(
            f"{one.point.view}, {one.point.percent:g} %",
            (("delta", (one.best + one.regret) / one.decisions), ("full", one.best / one.decisions)),
            one.best / (one.best + one.regret),
        )
        for one in lost
    )
    note = "Seconds of what auto picked, on average, above those of the fastest way." if lost else "Nothing was lost."
    return Section("What was lost", note, bars=bars, other="the fastest way")
