"""The warehouse's rounds as a result: the whole group against all models by plain Spark, and each view's part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.bench_result import BarGroup, BenchResult, Column, Grid, Section
from bench.measures import middle, spread
from bench.report_page import count, seconds, span, times

NOTES = (
    "Plain Spark runs every model with CREATE OR REPLACE TABLE … AS in the order of their dependencies, each reading the "
    "tables that the models before it wrote, in the same warm session.",
    "The group's views run as many at a time as there are cores (four at most); models run one after the other, each on "
    "all cores.",
    "After each change the ways take turns in going first, each after Java has collected its garbage; then every view is "
    "compared with its model's table, and after the last change of each size every hand-written model. Changes are inserts "
    "into all raw tables but one, updates of three and deletes from two; each repetition makes a further one. The first of "
    "each size (--warm-up, 1 unless set) are not counted; the initial build is measured once, and cold.",
    "By hand are incremental models as they are written with dbt, where a model has a key by which its rows can be found "
    "(bench/warehouse/by_hand): the changed keys by Delta's change feed, their rows computed anew and merged, one after the "
    "other. The other models are refreshed by plain Spark; their seconds are in the sum of all models by hand.",
    "Where auto refreshed a view, three more changes of that size follow in the end, after which none is refreshed: what a "
    "batch of it takes then is told beside.",
    "A view's own seconds leave out what the whole group reads once, and count by its share while several views are at work: "
    "those of all views add up to the run's. The group's seconds are those of the clock.",
)


@dataclass(frozen=True, slots=True)
class Model:
    """One view in one round. ``by_hand_seconds``: of the hand-written incremental model, where there is one."""

    view: str
    strategy: str
    seconds: float
    full_seconds: float
    rows_changed: int | None = None
    equal: bool = True
    by_hand_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One change of ``percent`` of the orders and both ways to follow it. ``rows``: changed rows of each raw table.

    ``counts``: no warming up, whose seconds are told of and belong to no median. ``forced``: no view was refreshed.
    """

    percent: float
    group_seconds: float
    models: tuple[Model, ...]
    rows: Mapping[str, int]
    rows_read: int | None = None
    counts: bool = True
    forced: bool = False

    @property
    def full_seconds(self) -> float:
        return sum(model.full_seconds for model in self.models)

    @property
    def by_hand_seconds(self) -> float | None:
        """Seconds of all models, those that are written by hand as incremental ones; None where there is none."""
        if all(model.by_hand_seconds is None for model in self.models):
            return None
        return sum(
            model.full_seconds if model.by_hand_seconds is None else model.by_hand_seconds for model in self.models
        )


def describe(
    options: Mapping[str, Any],
    facts: Mapping[str, str],
    rounds: Sequence[Round],
    refused: Mapping[str, str],
    unchanged: Sequence[float],
) -> BenchResult:
    """The result. ``unchanged``: seconds of runs of the group that found nothing to do."""
    percents = list(dict.fromkeys(one.percent for one in rounds))
    by_percent = {percent: [one for one in rounds if one.percent == percent and one.counts] for percent in percents}
    others = {percent: [one for one in rounds if one.percent == percent and not one.counts] for percent in percents}
    summary = [_summary(percent, group) for percent, group in by_percent.items()]
    entries = [
        entry
        for percent, group in by_percent.items()
        for entry in (_whole(percent, group, others[percent]), *_entries(percent, group, others[percent]))
    ]
    for one in summary:
        one["refreshed_though_slower"] = [entry["view"] for entry in entries if _is_slower(entry, one["percent"])]
    views = len(rounds[0].models)
    return BenchResult(
        bench="dag",
        title=f"A warehouse of {views} views, {options['scale']:g} million orders",
        options=options,
        environment=facts,
        results=tuple(entries),
        summary={
            "batches": summary,
            "views": views,
            "refused": dict(refused),
            "unchanged_seconds": middle(unchanged),
            "unchanged_spread": spread(unchanged),
        },
        tiles=(
            *((times(one["ratio"]), f"the speed of plain Spark, {_name(one['percent'])}") for one in summary),
            *(
                (times(one["by_hand_ratio"]), f"the speed of models written by hand, {_name(one['percent'])}")
                for one in summary
                if one["by_hand_ratio"]
            ),
            (seconds(middle(unchanged)), "for the group where nothing changed"),
        ),
        sections=(
            _overview(summary),
            *(_section(percent, [e for e in entries if e["percent"] == percent][1:]) for percent in percents),
        ),
        notes=(*NOTES, *(f"{view} is left out: {why}" for view, why in refused.items())),
    )


def _is_slower(entry: Mapping[str, Any], percent: float) -> bool:
    """Whether `auto` refreshed the view at this size, in one round at least, and a batch is faster."""
    refreshed, batch = entry.get("refreshed_seconds"), entry["incremental_seconds"]
    return entry["percent"] == percent and refreshed is not None and batch is not None and bool(batch < refreshed)


def _name(percent: float) -> str:
    return "initial build" if percent == 100 else f"{percent:g} % changed"


def _summary(percent: float, group: Sequence[Round]) -> dict[str, Any]:
    ratios = [one.full_seconds / one.group_seconds for one in group]
    by_hand = [one.by_hand_seconds for one in group]
    picked = Counter(model.strategy for one in group for model in one.models)
    return {
        "percent": percent,
        "group_seconds": middle([one.group_seconds for one in group]),
        "full_seconds": middle([one.full_seconds for one in group]),
        "ratio": middle(ratios),
        "ratio_spread": spread(ratios),
        "by_hand_seconds": middle(by_hand),
        "by_hand_models": sum(model.by_hand_seconds is not None for model in group[0].models),
        "by_hand_ratio": middle(
            [spent / one.group_seconds for spent, one in zip(by_hand, group, strict=True) if spent]
        ),
        "strategies": dict(picked),
        "rows_changed": middle([sum(one.rows.values()) for one in group]),
        "rows_read": middle([one.rows_read for one in group]),
    }


def _whole(percent: float, group: Sequence[Round], others: Sequence[Round]) -> dict[str, Any]:
    found = _summary(percent, group)
    warming = [one for one in others if not one.forced]
    return {
        "view": "all views",
        "percent": percent,
        "strategy": "group",
        "full_seconds": found["full_seconds"],
        "incremental_seconds": None,
        "auto_seconds": found["group_seconds"],
        "ratio": found["ratio"],
        "ratio_spread": found["ratio_spread"],
        "by_hand_seconds": found["by_hand_seconds"],
        "rows_changed": found["rows_changed"],
        "rows_read": found["rows_read"],
        "samples": _samples(group),
        "warm_up_samples": _samples(warming),
        "equal": all(model.equal for one in (*others, *group) for model in one.models),
    }


def _samples(rounds: Sequence[Round]) -> dict[str, list[float]]:
    return {"group": [one.group_seconds for one in rounds], "full": [one.full_seconds for one in rounds]}


def _entries(percent: float, group: Sequence[Round], others: Sequence[Round]) -> list[dict[str, Any]]:
    entries = []
    for position, first in enumerate(group[0].models):
        models = [one.models[position] for one in group]
        own, full = (middle([getattr(model, key) for model in models]) for key in ("seconds", "full_seconds"))
        refreshed = [model.seconds for model in models if model.strategy == "full"]
        batches = [model.seconds for model in models if model.strategy != "full"]
        if refreshed:
            batches += [one.models[position].seconds for one in others if one.forced]
        ratios = [model.full_seconds / model.seconds for model in models if model.seconds]
        entries.append(
            {
                "view": first.view,
                "percent": percent,
                "strategy": Counter(model.strategy for model in models).most_common(1)[0][0],
                "full_seconds": full,
                "incremental_seconds": middle(batches),
                "auto_seconds": own,
                "refreshed": len(refreshed),
                "refreshed_seconds": middle(refreshed),
                "ratio": middle(ratios),
                "ratio_spread": spread(ratios),
                "by_hand_seconds": middle([model.by_hand_seconds for model in models]),
                "rows_changed": middle([model.rows_changed for model in models]),
                "rows_read": None,
                "equal": all(model.equal for model in models),
            }
        )
    return entries


def _overview(summary: Sequence[Mapping[str, Any]]) -> Section:
    bars = tuple(
        BarGroup(_name(one["percent"]), (("delta", one["group_seconds"]), ("full", one["full_seconds"])), one["ratio"])
        for one in summary
    )
    names = ("group", "plain Spark", "ratio", "spread", "by hand", "by hand / group", "raw rows changed")
    rows = tuple(
        (
            _name(one["percent"]),
            seconds(one["group_seconds"]),
            seconds(one["full_seconds"]),
            times(one["ratio"]),
            span(one["ratio_spread"]),
            seconds(one["by_hand_seconds"]),
            times(one["by_hand_ratio"]),
            count(one["rows_changed"]),
            ", ".join(f"{name} {number}" for name, number in sorted(one["strategies"].items())),
        )
        for one in summary
    )
    columns = (Column("batch"), *(Column(name, True) for name in names), Column("strategies"))
    return Section(
        "The whole warehouse",
        "Seconds by the clock of all views in one run; medians.",
        bars=bars,
        grid=Grid(columns, rows),
    )


def _section(percent: float, entries: Sequence[Mapping[str, Any]]) -> Section:
    names = ("auto", "a batch", "plain Spark", "ratio", "by hand", "rows changed")
    columns = (Column("view"), Column("strategy"), *(Column(name, True) for name in names), Column("equal"))
    rows = tuple(
        (
            entry["view"],
            entry["strategy"],
            seconds(entry["auto_seconds"]),
            seconds(entry["incremental_seconds"]),
            seconds(entry["full_seconds"]),
            times(entry["ratio"]),
            seconds(entry["by_hand_seconds"]),
            count(entry["rows_changed"]),
            "✓" if entry["equal"] else "✗",
        )
        for entry in entries
    )
    return Section(f"Each view, {_name(percent)}", "Medians of each view's own seconds.", grid=Grid(columns, rows))
