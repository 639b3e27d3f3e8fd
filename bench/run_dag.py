"""``ivm bench dag``: a warehouse of views over views, brought up to date as one group, against running every model anew."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from bench.bench_result import BenchResult
from bench.by_hand import HandWrittenModels
from bench.by_hand_sql import SCHEMA as HAND_SCHEMA
from bench.dag_report import Model, Round, describe
from bench.demo_display import Display
from bench.deployment import Deployment, Place, deployment, make_schemas, warm_session
from bench.environment import environment
from bench.plain_spark import SCHEMA as FULL_SCHEMA
from bench.plain_spark import full_name
from bench.subjects import read_views
from bench.warehouse_data import FOLDER, SCHEMAS, WarehouseData
from bench.ways import matches_full, order_of, refresh_fully
from ivm_core.apply.model import MaintenanceReport
from ivm_core.errors import IvmError, SettingsError
from ivm_core.plan.definition import ViewDefinition

INITIAL = 100.0  # the percentage under which the first build is told of
FORCED = 3  # changes that no view may be refreshed after


@dataclass(frozen=True, slots=True)
class DagOptions:
    """``scale`` 1 has a million orders; ``percents``: sizes of the batches after the initial one.

    ``warm_up``: so many changes of each size come before those that count, for a session gets faster for some ten runs,
    while Java compiles what they do. ``by_hand``: run the hand-written incremental models too.
    """

    scale: float = 0.1
    percents: tuple[float, ...] = (1.0, 0.1)
    repeats: int = 5
    views: tuple[str, ...] = ()
    warm_up: int = 1
    by_hand: bool = True


def run(options: DagOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, and SettingsError where no view is left to measure."""
    views = read_views([FOLDER / "views"], options.views)
    with warm_session(place, "dag") as spark:
        facts = environment(spark, place.driver_memory)
        with deployment(place, "dag", spark, (*SCHEMAS, FULL_SCHEMA, HAND_SCHEMA)) as opened:
            data = WarehouseData(options.scale)
            with display.step("Load raw tables"):
                data.load(opened)
                make_schemas(spark, FULL_SCHEMA, HAND_SCHEMA)
            refused: dict[str, str] = {}
            rounds = [_build(opened, views, refused, display)]
            kept = tuple(view for view in views if view.name not in refused)
            if not kept:
                raise SettingsError("None of the views can be built: " + " ".join(refused.values()))
            with display.step("Hand-written models"):
                by_hand = HandWrittenModels.build(opened, kept if options.by_hand else ())
            loaded = data.orders
            for percent in options.percents:
                found, loaded = _rounds(opened, kept, by_hand, data, percent, loaded, options, display)
                rounds += found
            # After all that counts: auto would learn from them.
            for percent in options.percents:
                of_size = [one for one in rounds if one.percent == percent]
                found, loaded = _batches_of_refreshed(opened, kept, data, of_size, loaded, display)
                rounds += found
            unchanged = _unchanged(opened, options, display)
    return describe(asdict(options), facts, rounds, refused, unchanged)


def _build(place: Deployment, views: Sequence[ViewDefinition], refused: dict[str, str], display: Display) -> Round:
    """The initial batch: every view created, and every model run by plain Spark."""
    models = []
    with display.step("Initial build", 2 * len(views)) as advance:
        started = time.monotonic()
        for view in views:
            begun = time.monotonic()
            try:
                place.engine.create(view.sql)
                models.append((view, time.monotonic() - begun))
            except IvmError as error:
                refused[view.name] = error.message
            advance(view.name)
        built = time.monotonic() - started
        found = []
        for view, seconds in models:
            full = refresh_fully(place, view.name, view.whole, _renamed(views))
            right = matches_full(place, view.name, view.name)
            found.append(Model(view.name, "full", seconds, full.seconds, equal=right))
            advance(view.name)
    return Round(INITIAL, built, tuple(found), {})


def _rounds(
    place: Deployment,
    views: Sequence[ViewDefinition],
    by_hand: HandWrittenModels,
    data: WarehouseData,
    percent: float,
    loaded: int,
    options: DagOptions,
    display: Display,
) -> tuple[list[Round], int]:
    """Rounds of changes, each followed by the group's run, by every model's and by the hand-written ones', in turns.

    Also returns how many orders there are then.
    """
    ways: dict[str, Callable[[], Any]] = {
        "group": partial(place.meter.measure, partial(place.engine.maintain, raise_errors=False)),
        "plain": partial(_run_models, place, views),
        **({"by hand": by_hand.run} if options.by_hand else {}),
    }
    rounds: list[Round] = []
    turns = options.repeats + options.warm_up
    with display.step(f"{percent:g} % changed", turns * len(views)) as advance:
        for turn, (now, rows) in enumerate(data.changes(place.spark, percent, loaded, turns)):
            found = {}
            for way in order_of(tuple(ways), turn):
                place.meter.collect_garbage()
                found[way] = ways[way]()
            (reports, cost), hands = found["group"], found.get("by hand", {})
            models = []
            for model in _compared(place, reports, found["plain"], advance):
                # What a hand-written model once misses it lacks from then on: it is compared once for each size.
                once = turn == turns - 1 and model.view in hands
                right = model.equal and (not once or by_hand.is_right(model.view))
                models.append(replace(model, equal=right, by_hand_seconds=hands.get(model.view)))
            loaded = now
            counts = turn >= options.warm_up
            rounds.append(Round(percent, cost.seconds, tuple(models), rows, cost.rows_read, counts))
    return rounds, loaded


def _compared(
    place: Deployment,
    reports: Sequence[MaintenanceReport],
    fulls: Mapping[str, float],
    advance: Callable[[str], None],
) -> Iterator[Model]:
    """What a run did to each view, whose rows are compared with those of its model's table."""
    by_view = {report.view: report for report in reports}
    for view, full_seconds in fulls.items():
        report, right = by_view[view], matches_full(place, view, view)
        yield Model(view, str(report.strategy), report.seconds, full_seconds, report.rows_changed, right)
        advance(view)


def _batches_of_refreshed(
    place: Deployment,
    views: Sequence[ViewDefinition],
    data: WarehouseData,
    rounds: Sequence[Round],
    loaded: int,
    display: Display,
) -> tuple[list[Round], int]:
    """Rounds in which every view has a batch, where ``auto`` refreshed some of them: was it right?"""
    refreshed = [model.view for one in rounds if one.counts for model in one.models if model.strategy == "full"]
    if not refreshed:
        return [], loaded
    found: list[Round] = []
    percent = rounds[0].percent
    with display.step(f"{percent:g} % changed, without refreshes", FORCED * len(views)) as advance:
        for now, rows in data.changes(place.spark, percent, loaded, FORCED):
            loaded, fulls = now, _run_models(place, views)
            place.meter.collect_garbage()
            maintain = partial(place.engine.maintain, policy="incremental", raise_errors=False)
            reports, cost = place.meter.measure(maintain)
            models = tuple(_compared(place, reports, fulls, advance))
            found.append(Round(percent, cost.seconds, models, rows, counts=False, forced=True))
    return found, loaded


def _unchanged(place: Deployment, options: DagOptions, display: Display) -> list[float]:
    """Seconds of runs of the whole group that find nothing to do, after one that is not counted."""
    with display.step("Nothing changed", options.repeats) as advance:
        place.engine.maintain(raise_errors=False)
        taken = []
        for _ in range(options.repeats):
            _, cost = place.meter.measure(partial(place.engine.maintain, raise_errors=False))
            taken.append(cost.seconds)
            advance("all views")
    return taken


def _run_models(place: Deployment, views: Sequence[ViewDefinition]) -> dict[str, float]:
    """Seconds of each model run by plain Spark, reading the other models' tables of the same run."""
    renamed = _renamed(views)
    return {view.name: refresh_fully(place, view.name, view.whole, renamed).seconds for view in views}


def _renamed(views: Sequence[ViewDefinition]) -> dict[str, str]:
    return {view.name: full_name(view.name) for view in views}
