"""One case: a view's first build and its batches as whole jobs in DuckDB, compared with the query itself each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import duckdb
from sqlglot import exp, parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import DefinitionError, NoRule
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.chains import LARGE, TableFacts
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.model import MaintenanceJob
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb
from tests.fuzz.tables import TABLES, Row, State, changed_between
from tests.job.duckdb_jobs import AFTER, BEFORE, bag, connect, fill, run, shown, stored, translated

STATE = "the_state"
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


class View:
    """A query compiled once, with the jobs of its patterns of changed tables."""

    def __init__(self, sql: str, *, pieces: bool = False) -> None:
        """``pieces``: cut joins as before large tables. Raises DefinitionError where the query is refused."""
        self.sql, self.pieces = sql, pieces
        self.compiled: CompiledView = compile_view("f.v", _parsed(sql), TABLES, "f")
        self.tables = self.compiled.tables
        self.oracle = _in_duckdb(sql)
        self._facts = {name: TableFacts(8 * LARGE, ()) for name in self.tables} if pieces else None
        self.first = full_job(self.compiled, Reason.FIRST_BUILD)
        self.visible = translated(self.compiled.visible_sql)
        self._jobs: dict[frozenset[str], MaintenanceJob] = {}

    def job(self, changed: frozenset[str]) -> MaintenanceJob:
        """The job of a batch in which exactly these tables have changes."""
        if changed not in self._jobs:
            try:
                job = batch_job(self.compiled, changed, Strategy.INCREMENTAL, Reason.LINEAR, self._facts)
            except NoRule:
                job = full_job(self.compiled, Reason.UNSUPPORTED_OPERATOR)
            self._jobs[changed] = job
        return self._jobs[changed]


def open_database() -> duckdb.DuckDBPyConnection:
    """A database in memory with the empty tables, before and after a batch."""
    connection = connect({name: schema.columns for name, schema in TABLES.items()})
    connection.execute("PRAGMA disable_optimizer")  # planning would be most of the time
    return connection


def check(connection: duckdb.DuckDBPyConnection, view: View, trace: Iterable[State]) -> Result:
    """Build the view on the trace's first state and maintain it through the others."""
    first, *rest = trace
    for name in view.tables:
        for place in (BEFORE, AFTER):
            fill(connection, stored(name, place), first[name])
    try:
        expected = bag(connection.execute(view.oracle).fetchall())
    except _UNKNOWN as unknown:
        return Result(Outcome.UNTRANSLATED, str(unknown))
    except duckdb.Error as failed:
        return Result(Outcome.FAILS, str(failed))
    wrong = _run(connection, view, view.first, expected, "the first build")
    if wrong:
        return Result(Outcome.WRONG, wrong)
    earlier = first
    for number, state in enumerate(rest, start=1):
        changed = changed_between(earlier, state) & frozenset(view.tables)
        for name in view.tables:
            if earlier[name] is not first[name] or name in changed:
                fill(connection, stored(name, BEFORE), earlier[name])
                fill(connection, stored(name, AFTER), state[name])
        try:
            expected = bag(connection.execute(view.oracle).fetchall())
        except duckdb.Error as failed:  # no view stands there
            return Result(Outcome.FAILS, str(failed), number - 1)
        job = view.job(changed) if changed else None
        wrong = _run(connection, view, job, expected, f"batch {number} over {sorted(changed)}")
        if wrong:
            return Result(Outcome.WRONG, wrong, number)
        earlier = state
    return Result(Outcome.RIGHT, jobs=len(rest))


def compiled(sql: str, *, pieces: bool = False) -> View | Result:
    """The view, or why there is none."""
    try:
        return View(sql, pieces=pieces)
    except DefinitionError as refused:
        return Result(Outcome.REFUSED, str(refused))


def _parsed(sql: str) -> exp.Expression:
    tree = parse_one(sql, read=SparkAsWritten)
    assert isinstance(tree, exp.Expression)
    return tree


def _in_duckdb(sql: str) -> str:
    """The query as it was written, translated by sqlglot: no part of the compiler has touched it."""
    tree = _parsed(sql)
    assert isinstance(tree, exp.Query)
    adapt_to_duckdb(tree)
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and any(
            isinstance(e, exp.Rollup | exp.Cube | exp.GroupingSets) for e in group.expressions
        ):
            # Of no rows, Spark makes no grand total.
            select.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)), copy=False)
    for table in tree.find_all(exp.Table):
        if table.db == "f":
            name = stored(f"f.{table.name}", AFTER)
            table.set("db", None)
            table.set("this", exp.to_identifier(name))
    return tree.sql(dialect="duckdb")


def _run(
    connection: duckdb.DuckDBPyConnection, view: View, job: MaintenanceJob | None, expected: Counter[Row], what: str
) -> str:
    """What is wrong after a job; nothing where the view's rows are those expected."""
    try:
        if job is not None:
            run(connection, job, STATE)
        found = bag(shown(connection, view.visible, STATE))
    except duckdb.Error as failed:
        return f"{what} fails: {failed}"
    if found == expected:
        return ""
    return f"After {what} the view lacks {dict(expected - found)} and has beside {dict(found - expected)}."
