"""``ivm bench ways``: what each way to make a batch fast brings, by batches of the same changes with it and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Deployment, Place, warm_session
from bench.environment import environment
from bench.meter import Cost, sum_of
from bench.plain_spark import same_rows
from bench.switches import SWITCHES, Switch
from bench.tpch_subjects import TpchSubjects, changes, open_tpch, tpch_views
from bench.ways import order_of
from bench.ways_report import WayTrial, describe
from ivm_core.errors import SettingsError
from ivm_core.plan.definition import Policy

ALL_VIEWS = "all views"


@dataclass(frozen=True, slots=True)
class WaysOptions:
    """``ways``: names of switches, none for all."""

    scale: float = 1.0
    kind: Kind = Kind.BOTH
    percent: float = 0.1
    ways: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    repeats: int = 5


def run(options: WaysOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, and SettingsError for a way that there is not."""
    chosen = [switch for switch in SWITCHES if not options.ways or switch.name in options.ways]
    if unknown := set(options.ways) - {switch.name for switch in chosen}:
        known = ", ".join(switch.name for switch in SWITCHES)
        raise SettingsError(f"There is no way {', '.join(sorted(unknown))}. The ways are: {known}.")
    with warm_session(place, "ways") as spark:
        facts = environment(spark, place.driver_memory)
        with open_tpch(place, "ways", spark, options.scale, tpch_views(options.views), display) as tpch:
            found: list[WayTrial] = []
            for switch in chosen:
                found += _measure(tpch, switch, options, display)
    return describe(asdict(options), facts, chosen, found)


def _measure(tpch: TpchSubjects, switch: Switch, options: WaysOptions, display: Display) -> Iterator[WayTrial]:
    """Each view keeps the way, its copy goes without; the first change of a way meets new jobs, and is not counted."""
    turns = options.repeats + 1
    tpch.start_over()
    tpch.place.engine._session._jobs.clear()  # a copy's jobs are those without the way
    with display.step(f"Without: {switch.name}", turns) as advance:
        for turn, rows in enumerate(changes(tpch, options.kind, options.percent, turns)):
            for trial in _trials(tpch, switch, turn, rows):
                if turn:
                    yield trial
            advance(switch.name)


def _trials(tpch: TpchSubjects, switch: Switch, turn: int, rows: dict[str, int]) -> Iterator[WayTrial]:
    subjects = [subject for subject in tpch.subjects if any(rows.get(table) for table in subject.tables)]
    if not switch.together:
        for position, subject in enumerate(subjects):
            yield _trial(tpch.place, switch, [subject.name], [subject.copy], turn + position, subject.name)
    elif subjects:
        names, copies = [s.name for s in tpch.subjects], [s.copy for s in tpch.subjects]
        yield _trial(tpch.place, switch, names, copies, turn, ALL_VIEWS)


def _trial(
    place: Deployment, switch: Switch, names: Sequence[str], copies: Sequence[str], turn: int, view: str
) -> WayTrial:
    runs: list[Callable[[], Cost]] = [
        lambda: _maintain(place, names, switch.beside(place)),
        lambda: _maintain(place, copies, switch.turned_off(place), alone=switch.alone),
    ]
    costs = {way: runs[way]() for way in order_of((0, 1), turn)}
    equal = all(
        same_rows(place.spark, place.engine.read(one), place.engine.read(other))
        for one, other in zip(names, copies, strict=True)
    )
    return WayTrial(switch.name, view, costs[0], costs[1], equal)


def _maintain(
    place: Deployment, names: Sequence[str], inside: AbstractContextManager[None], *, alone: bool = False
) -> Cost:
    """Time batches of these views, incremental whatever seems faster; ``alone``: a run for each."""
    runs = [[name] for name in names] if alone else [list(names)]
    with inside:
        return sum_of(
            [
                place.meter.measure(lambda run=run: place.engine.maintain(run, policy=Policy.INCREMENTAL))[1]
                for run in runs
            ]
        )
