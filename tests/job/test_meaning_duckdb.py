"""Whole jobs in DuckDB: after each of several batches the state shows what the query gives on the tables as they are."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

import duckdb
import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import DefinitionError, NoRule
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.job.model import MaintenanceJob
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.nodes import Changes, Scan
from ivm_core.plan.to_sql import to_sql
from tests.job.duckdb_jobs import AFTER, BEFORE, bag, connect, fill, run, stored, visible
from tests.plan import queries
from tests.plan.test_meaning import Row, random_rows
from tests.sampling import one_in

BATCHES = 4
STATE = "the_state"

WRITTEN = {schema.name: schema.columns for schema in queries.TABLES.values()}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(WRITTEN) as opened:
        yield opened


@pytest.mark.parametrize("sql", one_in(2, queries.QUERIES))
def test_jobs_of_written_queries(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    check_written(connection, sql, zlib.crc32(sql.encode()))


def check_written(connection: duckdb.DuckDBPyConnection, sql: str, seed: int) -> None:
    """Several batches of one view; call it with a failing seed to see the case again."""
    try:
        view = compile_view("shop.v", parse_one(sql, read=SparkAsWritten), queries.TABLES, "shop")
    except DefinitionError as refused:
        pytest.skip(str(refused))
    check_view(connection, view, WRITTEN, Random(seed), f"seed {seed}\n{sql}")


def check_view(
    connection: duckdb.DuckDBPyConnection,
    view: CompiledView,
    schemas: Mapping[str, tuple[tuple[str, str], ...]],
    random: Random,
    what: str,
) -> None:
    """The first build and several batches, in each of which some of the view's tables change."""
    types = {name: tuple(type_ for _, type_ in columns) for name, columns in schemas.items()}
    rows = {name: random_rows(random, kinds, 6) for name, kinds in types.items()}
    for name, own in rows.items():
        fill(connection, stored(name, AFTER), own)
    if _expected(connection, view) is None:
        pytest.skip("the query fails on the first rows")
    try:
        run(connection, full_job(view, Reason.FIRST_BUILD), STATE)
    except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as untranslated:
        pytest.skip(f"not in DuckDB: {untranslated}")
    _check(connection, view, f"the first build, {what}\n{rows}")
    for number in range(BATCHES if view.tables else 0):
        changed = frozenset(random.sample(view.tables, k=random.randint(1, len(view.tables))))
        earlier = rows
        rows = {name: edited(random, types[name], own) if name in changed else own for name, own in rows.items()}
        for name in types:
            fill(connection, stored(name, BEFORE), earlier[name])
            fill(connection, stored(name, AFTER), rows[name])
        if _expected(connection, view) is None:
            rows = earlier  # no view stands there: the changes are taken back
            continue
        job = _job(random, view, changed)
        run(connection, job, STATE)
        _check(connection, view, f"batch {number}, {what}\n{sorted(changed)}\n{rows}\n{_text(job)}")


def _check(connection: duckdb.DuckDBPyConnection, view: CompiledView, what: str) -> None:
    assert bag(visible(connection, view, STATE)) == _expected(connection, view), what


def _expected(connection: duckdb.DuckDBPyConnection, view: CompiledView) -> Counter[Row] | None:
    """What the query gives on the tables as they are; None where a scalar subquery returns several rows."""
    try:
        return bag(connection.execute(to_sql(view.plan, dialect="duckdb", leaf_name=_after)).fetchall())
    except duckdb.InvalidInputException as failure:
        assert "ore than one row" in str(failure)
        return None


def _after(leaf: Scan | Changes) -> str:
    return stored(leaf.table, AFTER)


def _job(random: Random, view: CompiledView, changed: frozenset[str]) -> MaintenanceJob:
    sizes = (None, 1, LARGE, 8 * LARGE)
    # A key that the rows do not keep leads the plan, and must not lead it astray.
    keys = {name: tuple(column for column, _ in WRITTEN.get(name, ())[: random.randrange(2)]) for name in view.tables}
    facts = {name: TableFacts(random.choice(sizes), keys[name]) for name in view.tables}
    try:
        return batch_job(view, changed, Strategy.INCREMENTAL, Reason.LINEAR, facts if random.random() < 0.7 else None)
    except NoRule:
        return full_job(view, Reason.UNSUPPORTED_OPERATOR)


def _text(job: MaintenanceJob) -> str:
    return "\n".join(f"-- {step.name}\n{step.sql}" for step in job.steps)


def edited(random: Random, types: tuple[str, ...], rows: list[Row]) -> list[Row]:
    """Some rows gone, some doubled, some with another value in one column, some new ones; now and then all gone."""
    if random.random() < 0.1:
        return []
    fresh = iter(random_rows(random, types) + random_rows(random, types))
    kept: list[Row] = []
    for row in rows:
        match random.randrange(6):
            case 0:
                continue
            case 1:
                kept += [row, row]
            case 2:
                other, place = next(fresh, row), random.randrange(len(row))
                kept.append((*row[:place], other[place], *row[place + 1 :]))
            case _:
                kept.append(row)
    return kept + [row for row, _ in zip(fresh, range(random.randrange(3)), strict=False)]
