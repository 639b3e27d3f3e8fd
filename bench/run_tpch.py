"""``ivm bench tpch``: every TPC-H view after changes of given sizes, by full refresh, incrementally, and as auto picks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial

from bench.bench_result import BenchResult
from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Place, warm_session
from bench.environment import environment
from bench.meter import Cost, sum_of
from bench.plain_spark import full_name
from bench.points import points_of
from bench.tpch_report import describe
from bench.tpch_subjects import TpchSubjects, changed_trials, changes, open_tpch, tpch_views
from bench.ways import AUTO, FULL, Trial, matches_full, refresh_fully, states_of
from ivm_core.apply.model import MaintenanceReport

BREAK_EVEN = (0.0, 0.01, 0.1, 1.0, 5.0, 10.0, 25.0, 50.0)
ALL_VIEWS = "all views"


@dataclass(frozen=True, slots=True)
class TpchOptions:
    """``percents``: sizes of changes, in percent of the orders; ``group``: also time all views in one run.

    ``warm_up``: make one change before all others, and do not count it.
    """

    scale: float = 1.0
    kind: Kind = Kind.BOTH
    percents: tuple[float, ...] = (0.1,)
    views: tuple[str, ...] = ()
    repeats: int = 5
    group: bool = True
    warm_up: bool = True


def run(options: TpchOptions, place: Place, display: Display) -> BenchResult:
    """Run the benchmark. Raises EnvironmentProblem, SettingsError."""
    name, views = "tpch", tpch_views(options.views)
    with warm_session(place, name) as spark:
        facts = environment(spark, place.driver_memory)
        with open_tpch(place, name, spark, options.scale, views, display) as tpch:
            found = tuple(_measure(tpch, options, display))
            refused = tpch.refused
    return describe(asdict(options), facts, points_of(found), refused, ALL_VIEWS)


def _measure(tpch: TpchSubjects, options: TpchOptions, display: Display) -> Iterator[Trial]:
    # The first change after loading meets code that no one has run yet: it is made, and not counted.
    if options.warm_up:
        for _ in changed_trials(tpch, options.kind, max(options.percents), 0, display, warm_up=True):
            pass
    for percent in options.percents:
        _start_over(tpch, display)
        yield from changed_trials(tpch, options.kind, percent, options.repeats, display)
        if options.group and len(tpch.subjects) > 1:
            _start_over(tpch, display)
            yield from _group_trials(tpch, options, percent, display)


def _start_over(tpch: TpchSubjects, display: Display) -> None:
    with display.step("Back to loaded state"):
        tpch.start_over()


def _group_trials(tpch: TpchSubjects, options: TpchOptions, percent: float, display: Display) -> Iterator[Trial]:
    """All views in one run, against full refreshes of all, taking turns in going first."""
    full = partial(_refresh_all, tpch)
    states = states_of(tpch.place, [subject.name for subject in tpch.subjects])
    group = partial(tpch.place.meter.measure, partial(_maintain_auto, tpch), *states)
    with display.step(f"All views, {percent:g} %", options.repeats) as advance:
        for turn, rows in enumerate(changes(tpch, options.kind, percent, options.repeats)):
            if turn % 2:
                (reports, auto), cost = group(), full()
            else:
                cost, (reports, auto) = full(), group()
            yield Trial(
                ALL_VIEWS,
                tpch.scale,
                str(options.kind),
                percent,
                {FULL: cost, AUTO: auto},
                strategy="group",
                rows_changed=sum(rows.values()),
                view_rows_changed=sum(report.rows_changed for report in reports),
                equal=all(matches_full(tpch.place, subject.name, subject.name) for subject in tpch.subjects),
            )
            advance(ALL_VIEWS)


def _maintain_auto(tpch: TpchSubjects) -> list[MaintenanceReport]:
    # A view that fails is found by the comparison; the others are measured all the same.
    return tpch.place.engine.maintain([subject.name for subject in tpch.subjects], raise_errors=False)


def _refresh_all(tpch: TpchSubjects) -> Cost:
    # A view over a view reads what this very round of refreshes has made of it, whichever way goes first.
    renamed = {subject.name: full_name(subject.name) for subject in tpch.subjects}
    costs = [refresh_fully(tpch.place, subject.name, subject.query, renamed) for subject in tpch.subjects]
    return sum_of(costs)
