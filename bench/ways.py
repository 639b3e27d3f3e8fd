"""One change of the base tables, three ways to bring a view to it: full refresh, incremental batch, and what auto picks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from bench.deployment import Deployment
from bench.meter import Cost
from bench.plain_spark import full_name, refresh_statement, same_rows
from bench.subjects import Subject
from ivm_core.apply.model import MaintenanceReport
from ivm_core.cost.model import Strategy
from ivm_core.errors import IvmError
from ivm_core.maintain.auxiliaries import owner_of

FULL, INCREMENTAL, AUTO, MIXED, NOTHING = "full", "incremental", "auto", "mixed", "noop"
WAYS = (FULL, INCREMENTAL, AUTO)
Way = TypeVar("Way")


@dataclass(frozen=True, slots=True)
class Trial:
    """One view, one change, all three ways. ``strategy``: what auto picked; ``error``: why there is nothing to compare.

    ``parts``: what auto picked for the view's auxiliaries, each a decision of its own.
    """

    view: str
    scale: float
    change: str
    percent: float
    costs: Mapping[str, Cost]
    strategy: str = ""
    incremental_strategy: str = ""
    rows_changed: int = 0
    view_rows_changed: int = 0
    equal: bool = True
    error: str = ""
    parts: tuple[str, ...] = ()

    @property
    def pick(self) -> str:
        """What auto picked for the view and those of its auxiliaries that changed: incremental, full, or mixed.

        ``noop`` where there was nothing to decide.
        """
        decided = [self.strategy, *(part for part in self.parts if part != Strategy.NOOP)]
        if decided == [Strategy.NOOP]:
            return NOTHING
        refreshed = [strategy == FULL for strategy in decided]
        return FULL if all(refreshed) else MIXED if any(refreshed) else INCREMENTAL


def trials(
    place: Deployment,
    subjects: Iterable[Subject],
    turn: int,
    rows: Mapping[str, int],
    scale: float,
    change: str,
    percent: float,
) -> Iterator[Trial]:
    """All ways for every view, after a change that touched ``rows``; ``turn`` tells which way goes first, and which next."""
    changed = dict(rows)
    for position, subject in enumerate(subjects):
        read = {table: changed.get(table, 0) for table in subject.tables}
        try:
            trial = _trial(place, subject, order_of(WAYS, turn + position), sum(read.values()), scale, change, percent)
        except IvmError as error:
            trial = Trial(subject.name, scale, change, percent, {}, equal=False, error=error.message)
        changed[subject.name] = trial.view_rows_changed  # what the views above it see as change
        yield trial


def order_of(ways: Sequence[Way], turn: int) -> tuple[Way, ...]:
    """The ways in the order of this turn: each comes first as often, and follows each other one as often.

    >>> ["".join(order_of("abc", turn)) for turn in range(6)]
    ['abc', 'cba', 'bca', 'acb', 'cab', 'bac']
    """
    start = turn // 2 % len(ways)
    order = (*ways[start:], *ways[:start])
    return order if turn % 2 == 0 else order[::-1]


def _trial(
    place: Deployment, subject: Subject, order: Iterable[str], rows: int, scale: float, change: str, percent: float
) -> Trial:
    costs: dict[str, Cost] = {}
    reports: dict[str, list[MaintenanceReport]] = {}
    names = {INCREMENTAL: subject.copy, AUTO: subject.name}
    for way in order:
        if way == FULL:
            costs[way] = refresh_fully(place, subject.name, subject.query)
        else:
            reports[way], costs[way] = maintain_alone(place, names[way])
    return Trial(
        subject.name,
        scale,
        change,
        percent,
        costs,
        strategy=str(reports[AUTO][-1].strategy),
        incremental_strategy=str(reports[INCREMENTAL][-1].strategy),
        rows_changed=rows,
        view_rows_changed=max(ways[-1].rows_changed for ways in reports.values()),
        equal=all(matches_full(place, subject.name, name) for name in names.values()),
        parts=tuple(str(report.strategy) for report in reports[AUTO][:-1]),
    )


def refresh_fully(
    place: Deployment, view: str, query: exp.Expression, renamed: Mapping[str, str] | None = None
) -> Cost:
    """Time a full refresh by plain Spark."""
    location = str(place.folder / "warehouse" / "full" / view)
    statement = refresh_statement(view, query, location, renamed)
    _, cost = place.meter.measure(lambda: place.spark.sql(statement).collect(), location)
    return cost


def maintain_alone(place: Deployment, view: str) -> tuple[list[MaintenanceReport], Cost]:
    """Time a run that maintains one view with its auxiliaries, from fixing the cut to the record in the catalogue.

    The view's own report is the last.
    """
    return place.meter.measure(lambda: place.engine.maintain([view]), *states_of(place, [view]))


def states_of(place: Deployment, views: Iterable[str]) -> tuple[str, ...]:
    """The locations of the states of these views and of their auxiliaries."""
    names = set(views)
    return tuple(view.location for view in place.engine.catalog.views() if names & {view.name, owner_of(view)})


def matches_full(place: Deployment, view: str, name: str) -> bool:
    """Whether a view, or its copy called ``name``, holds the rows of the view's last full refresh."""
    return same_rows(place.spark, place.spark.table(full_name(view)), place.engine.read(name))
