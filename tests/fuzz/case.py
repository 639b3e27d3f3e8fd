"""One case: views' first build and their batches as whole jobs in DuckDB, compared with the query itself each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

import duckdb

from ivm_core.cost.model import Reason
from ivm_core.errors import DefinitionError
from ivm_core.job.build import full_job
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.nodes import At
from tests.fuzz.database import Database, Instants, Prepared, PreparedJob, TypesDiffer
from tests.fuzz.tables import Row, State, changed_between
from tests.fuzz.views import View, Views
from tests.job.duckdb_jobs import AFTER, BEFORE, bag

Trace = list[State]
# DuckDB does not know the function, or not in this place.
_UNKNOWN = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.NotImplementedException)


class Outcome(StrEnum):
    """What became of a case."""

    RIGHT = "right"
    REFUSED = "refused"  # by the compiler, with a reason
    UNTRANSLATED = "not in DuckDB"
    FAILS = "the query itself fails"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome; what was seen where it is wrong, or why it was refused. ``jobs``: batches that were run."""

    outcome: Outcome
    detail: str = ""
    jobs: int = 0


@dataclass(eq=False)
class _Standing:
    """A view in a database: its prepared query, state and jobs."""

    view: View
    expected: Prepared
    visible: Prepared
    first: PreparedJob
    jobs: dict[frozenset[str], PreparedJob] = field(default_factory=dict)


class Bench:
    """The views of one query in a database of their own, through which traces are run."""

    def __init__(self, views: Views, traces: Iterable[Trace]) -> None:
        """``traces``: no others can be run. Raises duckdb.Error where DuckDB does not know a function of the query."""
        self.views = views
        self.database = Database(views.schemas)
        self._standing = []
        for view in views.views:
            expected = self.database.prepare(view.query)
            first = self.database.prepare_job(full_job(view.compiled, Reason.FIRST_BUILD), view.state)
            visible = self.database.prepare_visible(view.compiled.visible_sql, view.state)
            self._standing.append(_Standing(view, expected, visible, first))
        touched = {changed_between(*states) for trace in traces for states in pairwise(trace)}
        patterns = dict.fromkeys(
            (s, changed) for tables in sorted(touched, key=sorted) for s, changed in self._changed(tables)
        )
        for standing, changed in patterns:
            standing.jobs[changed] = self.database.prepare_job(standing.view.job(changed), standing.view.state)
        self.database.plan()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.connection.close()

    def check(self, trace: Trace) -> Result:
        """Build the views on the trace's first state and maintain them through the others."""
        first, *rest = trace
        self.database.connection.execute("BEGIN")
        try:
            return self._follow(first, rest)
        finally:
            self.database.connection.execute("ROLLBACK")

    def _changed(self, touched: frozenset[str]) -> Iterable[tuple[_Standing, frozenset[str]]]:
        """The views that a batch maintains, and which of their tables count as changed: views that were maintained too."""
        for standing in self._standing:
            changed = touched & frozenset(standing.view.compiled.tables)
            if changed:
                yield standing, changed
                touched |= {standing.view.name}

    def _follow(self, first: State, rest: list[State]) -> Result:
        for name in self.views.tables:
            for place in (BEFORE, AFTER):
                self._fill(name, place, first)
        instants = _instants(first, first)
        for standing in self._standing:
            result = self._compare(standing, standing.first, instants, "the first build", 0, first=True)
            if result is not None:
                return result
        earlier = first
        for number, state in enumerate(rest, start=1):
            touched = changed_between(earlier, state)
            for name in self.views.tables:
                if earlier[name] is not first[name] or name in touched:
                    self._fill(name, BEFORE, earlier)
                    self._fill(name, AFTER, state)
            instants = _instants(earlier, state)
            patterns = {standing.view.name: changed for standing, changed in self._changed(touched)}
            for standing in self._standing:
                changed = patterns.get(standing.view.name)
                job = standing.jobs[changed] if changed else None
                what = f"batch {number} over {sorted(changed or ())}"
                result = self._compare(standing, job, instants, what, number)
                if result is not None:
                    return result
            earlier = state
        return Result(Outcome.RIGHT, jobs=len(rest))

    def _fill(self, table: str, place: str, state: State) -> None:
        if table != CLOCK:
            self.database.fill(table, place, state[table])

    def _compare(
        self,
        standing: _Standing,
        job: PreparedJob | None,
        instants: Instants,
        what: str,
        number: int,
        *,
        first: bool = False,
    ) -> Result | None:
        """What is wrong after a job of a view; nothing where the view's rows are those expected."""
        view, database = standing.view, self.database
        try:
            expected = bag(database.rows(standing.expected, instants))
        except duckdb.Error as failed:  # no view stands there
            return Result(Outcome.FAILS, str(failed), number)
        try:
            read = view.name in self.views.read
            before = [] if first or not read else database.rows(standing.visible, instants)
            if job is not None:
                database.run(job, view.state, instants)
            shown = database.rows(standing.visible, instants)
            found = bag(shown)
            if read:
                database.fill(view.name, BEFORE, shown if first else before)
                database.fill(view.name, AFTER, shown)
        except duckdb.Error as failed:
            return Result(Outcome.WRONG, f"{view.name}: {what} fails: {failed}", number)
        if found == expected:
            return None
        return Result(Outcome.WRONG, f"After {what}, {view.name} {_difference(expected, found)}", number)


def views_of(sql: str, *, pieces: bool = False) -> Views | Result:
    """The views, or why there are none."""
    try:
        return Views(sql, pieces=pieces)
    except DefinitionError as refused:
        return Result(Outcome.REFUSED, str(refused))


def bench_of(views: Views, traces: Iterable[Trace]) -> Bench | Result:
    """The views in a database, or why they cannot be there."""
    try:
        return Bench(views, traces)
    except (*_UNKNOWN, TypesDiffer) as unknown:
        return Result(Outcome.UNTRANSLATED, str(unknown))


def _instants(before: State, after: State) -> Instants:
    return {At.BEFORE: before[CLOCK][0][0], At.AFTER: after[CLOCK][0][0]}


def _difference(expected: Counter[Row], found: Counter[Row]) -> str:
    return f"lacks {dict(expected - found)} and has beside {dict(found - expected)}."
