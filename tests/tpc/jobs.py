"""One query of a benchmark as a view in DuckDB: built, then maintained through batches, and compared after each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from math import isclose
from random import Random

import duckdb
import pyarrow as pa
from sqlglot import exp, parse_one

from ivm_core.cost.model import Reason
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.definition import parse_definition
from tests.job.duckdb_jobs import AFTER, BEFORE, run, visible
from tests.tpc.asked_values import asked_values
from tests.tpc.benchmark import Benchmark, Row, spark_text
from tests.tpc.hints import hint_of
from tests.tpc.random_rows import Change, RandomRows

_STATE = "the_state"
Tables = Mapping[str, list[Row]]


def compiled(benchmark: Benchmark, query: str, name: str = "default.v") -> CompiledView:
    """The query as a view."""
    definition = parse_definition(f"CREATE INCREMENTAL MATERIALIZED VIEW {name} AS {spark_text(query)}")
    return compile_view(name, definition.query, benchmark.schemas)


def with_decimal_quotients(query: str) -> str:
    """The query with a cast of each quotient below an aggregate: DuckDB divides decimals to DOUBLE, Spark to a decimal.

    Sums of DOUBLE leave a rest behind when their rows have gone, which in Spark would be an error to report.
    """
    tree = parse_one(query, read="duckdb")
    for call in tree.find_all(exp.AggFunc):
        for quotient in list(call.find_all(exp.Div)):
            quotient.replace(exp.cast(quotient.copy(), "decimal(38, 10)"))
    return tree.sql("duckdb")


def without_empty_totals(query: str) -> str:
    """The query with no groups where there are no rows, as in Spark: DuckDB's ROLLUP makes a total of none."""
    tree = parse_one(query, read="duckdb")
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
            select.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)), copy=False)
    return tree.sql("duckdb")


def check_query(benchmark: Benchmark, number: int, most_batches: int | None = None) -> tuple[int, int]:
    """Build the view and maintain it: inserts, deletes and mixed changes in all its tables, then in one at a time.

    Returns how many states were compared, and how many of them had rows.
    """
    query = with_decimal_quotients(benchmark.queries[number])
    view, query = compiled(benchmark, query), without_empty_totals(query)
    strategy, reason, _ = strategy_of(view)
    tables = [name.rpartition(".")[2] for name in view.tables]
    types = {name: type_ for columns in benchmark.types.values() for name, type_ in columns.items()}
    with _connected(benchmark, tables) as connection:
        rows = RandomRows(
            benchmark, Random(number), asked_values(connection, query, types), hint_of(benchmark.kind, number)
        )
        now: Tables = rows.first(tables)
        _fill(connection, now, AFTER)
        run(connection, full_job(view, Reason.FIRST_BUILD), _STATE)
        states, with_rows = 1, _compare(connection, view, query, "the first build")
        for changed, change in list(_batches(tables, rows))[:most_batches]:
            earlier, now = now, {name: change(name, own) if name in changed else own for name, own in now.items()}
            _fill(connection, earlier, BEFORE)
            _fill(connection, now, AFTER)
            if _expected(connection, query) is None:
                now = earlier  # the query fails: no view stands there, and the changes are taken back
                continue
            job = batch_job(view, frozenset(_full_names(view, changed)), strategy, reason)
            run(connection, job, _STATE)
            states += 1
            with_rows += _compare(connection, view, query, f"{change.__name__} in {', '.join(changed)}")
    return states, int(with_rows)


def _batches(tables: list[str], rows: RandomRows) -> Iterator[tuple[list[str], Change]]:
    yield from ((tables, change) for change in (rows.inserted, rows.deleted, rows.mixed))
    yield from (([table], rows.mixed) for table in tables)


def _full_names(view: CompiledView, tables: list[str]) -> list[str]:
    return [name for name in view.tables if name.rpartition(".")[2] in tables]


@contextmanager
def _connected(benchmark: Benchmark, tables: list[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with both states of the tables; under a table's own name is what is there after the batch."""
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for table in tables:
            columns = ", ".join(f"{name} {type_}" for name, type_ in benchmark.types[table].items())
            for state in (BEFORE, AFTER):
                connection.execute(f"CREATE TABLE {table}{state} ({columns})")
            connection.execute(f"CREATE VIEW {table} AS FROM {table}{AFTER}")
        yield connection


def _fill(connection: duckdb.DuckDBPyConnection, tables: Tables, state: str) -> None:
    for table, rows in tables.items():
        name = f"{table}{state}"
        schema = connection.execute(f"FROM {name} LIMIT 0").to_arrow_table().schema
        columns = [pa.array(cells, column.type) for cells, column in zip(zip(*rows, strict=True), schema, strict=True)]
        connection.register("filled", pa.Table.from_arrays(columns, schema=schema))
        connection.execute(f"DELETE FROM {name}")
        connection.execute(f"INSERT INTO {name} FROM filled")
        connection.unregister("filled")


def _compare(connection: duckdb.DuckDBPyConnection, view: CompiledView, query: str, when: str) -> bool:
    """Whether there are rows; fails where the view's are not those that the query itself gives in DuckDB."""
    expected = _expected(connection, query) or []
    check_same(visible(connection, view, _STATE), expected, when)
    return bool(expected)


def check_same(shown: list[Row], expected: list[Row], when: str) -> None:
    """Fail where the two bags differ, fractions beyond the digits that DuckDB and Spark share aside."""
    assert len(shown) == len(expected), when
    for mine, other in zip(sorted(shown, key=_order), sorted(expected, key=_order), strict=True):
        assert all(_equal(*cells) for cells in zip(mine, other, strict=True)), f"{when}\n{mine}\n{other}"


def _expected(connection: duckdb.DuckDBPyConnection, query: str) -> list[Row] | None:
    """What the query gives; None where a scalar subquery of it returns several rows."""
    try:
        return connection.execute(query).fetchall()
    except duckdb.InvalidInputException as failure:
        assert "ore than one row" in str(failure)
        return None


def _equal(mine: object, other: object) -> bool:
    """Averages and quotients of decimals are DOUBLE in DuckDB and have Spark's digits in a state."""
    if isinstance(mine, Decimal | float) and isinstance(other, Decimal | float):
        return isclose(mine, other, rel_tol=1e-6, abs_tol=1e-4)
    return mine == other


def _order(row: Row) -> tuple[object, ...]:
    """Exact cells first, then fractions."""
    exact = [(cell is None, _text(cell)) for cell in row if not isinstance(cell, Decimal | float)]
    return *exact, *((cell is None, cell or 0) for cell in row if isinstance(cell, Decimal | float | None))


def _text(cell: object) -> str:
    return f"{cell:024}" if isinstance(cell, int) else cell.isoformat() if isinstance(cell, date) else str(cell)
