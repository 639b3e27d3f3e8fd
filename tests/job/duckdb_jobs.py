"""Maintenance jobs run in DuckDB: inputs, steps and the write, as the engine runs them on Spark and Delta.

A base table is two DuckDB tables, ``name__before`` and ``name__after``; a state is a table of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

import duckdb
from sqlglot import exp, parse_one

from ivm_core.apply import bag_near, merge_groups, replace_groups
from ivm_core.delta.state import STATE_TABLE
from ivm_core.job.compile import CompiledView
from ivm_core.job.model import (
    BATCH_COLUMN,
    RECOMPUTED_KEYS,
    ROW_COLUMN,
    Combine,
    Input,
    MaintenanceJob,
    Slice,
    Step,
    Write,
    WriteKind,
)
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.nodes import WEIGHT
from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb

Row = tuple[object, ...]

BEFORE, AFTER = "__before", "__after"
_NEW = "__ivm_new_state"
_STORED, _ADDED, _FOUND, _CHECKED = "__ivm_stored", "__ivm_added", "__ivm_victims", "__ivm_checked"


def translated(query: exp.Query | str) -> str:
    """A query of Spark's as DuckDB has it."""
    return _parsed(query) if isinstance(query, str) else _adapted(query.copy())


@lru_cache(maxsize=4096)
def _parsed(query: str) -> str:
    tree = parse_one(query, read=SparkAsWritten)
    assert isinstance(tree, exp.Query)
    return _adapted(tree)


def _adapted(tree: exp.Query) -> str:
    adapt_to_duckdb(tree)
    return tree.sql(dialect="duckdb")


def connect(schemas: Mapping[str, Sequence[tuple[str, str]]]) -> duckdb.DuckDBPyConnection:
    """A database in memory with empty tables for both states of every base table."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SET enable_progress_bar = false")
    for name, columns in schemas.items():
        typed = ", ".join(f"{column} {_type(kind)}" for column, kind in columns)
        for state in (BEFORE, AFTER):
            connection.execute(f"CREATE TABLE {stored(name, state)} ({typed})")
    return connection


def _type(kind: str) -> str:
    """A Spark type in DuckDB's words."""
    if "<" in kind:
        return exp.DataType.build(kind, dialect="spark").sql("duckdb")
    return "varchar" if kind == "string" else kind


def fill(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Make these the table's rows."""
    connection.execute(f"DELETE FROM {table}")
    if rows:
        marks = f"({', '.join('?' for _ in rows[0])})"
        cells = [cell for row in rows for cell in row]
        connection.execute(f"INSERT INTO {table} VALUES {', '.join(marks for _ in rows)}", cells)


def bag(rows: Iterable[Row]) -> Counter[Row]:
    """Averages of decimals are DOUBLE in DuckDB and have Spark's digits in a state: fractions are compared to four."""
    return Counter(tuple(_comparable(cell) for cell in row) for row in rows)


def _comparable(cell: object) -> object:
    match cell:
        case Decimal() | float():
            return round(float(cell), 4)
        case list():
            return tuple(_comparable(part) for part in cell)
        case dict():
            return tuple((name, _comparable(part)) for name, part in cell.items())
        case _:
            return cell


def stored(table: str, state: str) -> str:
    """The DuckDB table with a base table's rows in a state."""
    return table.rpartition(".")[2] + state


def run(connection: duckdb.DuckDBPyConnection, job: MaintenanceJob, state: str) -> None:
    """Bring the table ``state`` from before the batch to after it."""
    _relations(connection, job.inputs, job.steps, state=state)
    write, recomputed = job.write, None
    if write.recompute is not None and any(column.combine is not Combine.ADD for column in write.merge):
        lost = translated(merge_groups.lost_extremes(write, state, write.step))
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {RECOMPUTED_KEYS} AS {lost}")
        _relations(connection, write.recompute_inputs, [write.recompute], [RECOMPUTED_KEYS])
        if write.keys or connection.execute(f"FROM {RECOMPUTED_KEYS}").fetchall():
            recomputed = write.recompute.name
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_NEW} AS {new_state(write, state, recomputed)}")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {state} AS FROM {_NEW}")


def visible(connection: duckdb.DuckDBPyConnection, view: CompiledView, state: str) -> list[Row]:
    """What a reader of the view sees."""
    return shown(connection, translated(view.visible_sql), state)


def shown(connection: duckdb.DuckDBPyConnection, query: str, state: str) -> list[Row]:
    """The same, by a query translated before."""
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {STATE_TABLE} AS FROM {state}")
    return connection.execute(query).fetchall()


def _relations(
    connection: duckdb.DuckDBPyConnection,
    inputs: Iterable[Input],
    steps: Iterable[Step],
    there: Iterable[str] = (),
    state: str = "",
) -> None:
    for part in in_order(inputs, steps, there):
        if isinstance(part, Step):
            _step(connection, part)
        elif part.slice is Slice.STORED:
            connection.execute(f"CREATE OR REPLACE TEMP VIEW {_name(part.name)} AS FROM {state}")
        else:
            connection.execute(f"CREATE OR REPLACE TEMP VIEW {_name(part.name)} AS {bounded_slice(part)}")


def in_order(inputs: Iterable[Input], steps: Iterable[Step], there: Iterable[str] = ()) -> Iterator[Input | Step]:
    """Each input after the relations that its bounds name, and the steps in their order; ``there``: relations before all."""
    named, waiting = set(there), list(inputs)
    for step in (None, *steps):
        if step is not None:
            yield step
            named.add(step.name)
        while ready := [item for item in waiting if named.issuperset(bound.step for bound in item.bounds)]:
            yield from ready
            named |= {item.name for item in ready}
            waiting = [item for item in waiting if item not in ready]
    assert not waiting, f"bounds by what no step is called: {waiting}"


def bounded_slice(item: Input, names: Mapping[str, str] | None = None) -> str:
    """The rows of an input that its bounds allow and no others: the most that an engine may leave out.

    ``names``: by which other names the relations go that bounds name.
    """
    if not item.bounds:
        return slice_of(item)
    kept = f"({slice_of(item)}) AS base"
    for place, bound in enumerate(item.bounds):
        relation = _name((names or {}).get(bound.step, bound.step))
        equal = "IS NOT DISTINCT FROM" if bound.null_safe else "="
        kept += f" SEMI JOIN {relation} AS k{place} ON base.{_name(bound.column)} {equal} k{place}.{_name(bound.step_column)}"
    return f"SELECT * FROM {kept}"


def slice_of(item: Input) -> str:
    """The rows that an input shows; changes are netted over exactly its columns."""
    shown = ", ".join(f"{_name(column.source)} AS {_name(column.name)}" for column in item.columns)
    before, after = stored(item.table, BEFORE), stored(item.table, AFTER)
    if item.slice is not Slice.CHANGES:
        return f"SELECT {shown} FROM {before if item.slice is Slice.BEFORE else after}"
    names = _listed([column.source for column in item.columns])
    sides = f"SELECT *, 1 AS weight FROM {after} UNION ALL SELECT *, -1 FROM {before}"
    weight = f"CAST(SUM(weight) AS BIGINT) AS {WEIGHT}"
    return f"SELECT {shown}, {weight} FROM ({sides}) GROUP BY {names} HAVING SUM(weight) <> 0"


def _step(connection: duckdb.DuckDBPyConnection, step: Step) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {_name(step.name)} AS {translated(step.sql)}")


def new_state(write: Write, state: str, recomputed: str | None = None) -> str:
    """All rows of the table ``state`` after the write. ``recomputed``: the relation of the groups that were."""
    match write.kind:
        case WriteKind.OVERWRITE:
            return f"SELECT {_listed(write.columns) or '*'} FROM {_name(write.step)}"
        case WriteKind.BAG if write.approximate:
            return _nearly_bag_after(write, state)
        case WriteKind.BAG:
            return _bag_after(write.columns, state, write.step)
        case WriteKind.MERGE_GROUPS:
            return translated(merge_groups.rewrite_state(write, state, write.step, recomputed))
        case WriteKind.REPLACE_GROUPS:
            return translated(replace_groups.rewrite_state(write, state, write.step))


def _bag_after(columns: Sequence[str], state: str, step: str) -> str:
    """Every row as often as the state and the weights say; more copies removed than there are is an error."""
    names = _listed(columns)
    both = f"SELECT {names}, 1 AS {WEIGHT} FROM {state} UNION ALL SELECT {names}, {WEIGHT} FROM {step}"
    total = f"CASE WHEN SUM({WEIGHT}) < 0 THEN error('more copies removed than stored') ELSE SUM({WEIGHT}) END"
    counted = f"SELECT {names}, {total} AS copies FROM ({both}) GROUP BY {names}"
    return f"SELECT {names} FROM ({counted}), range(CAST(copies AS BIGINT)) AS copy(number) WHERE copies > 0"


def _nearly_bag_after(write: Write, state: str) -> str:
    """The same by the package's own statements, where floating-point sums may differ in their last digits."""
    names, ids = _listed(write.columns), f"row_number() OVER () AS {ROW_COLUMN}"
    copies = f"range(CAST({WEIGHT} AS BIGINT)) AS copy(number) WHERE {WEIGHT} > 0"
    found = bag_near.victims(write.columns, write.approximate, _STORED, _ADDED, write.step)
    missing = (
        f"(SELECT count(*) FROM {_FOUND}) <> (SELECT coalesce(-sum({WEIGHT}), 0) FROM {write.step} WHERE {WEIGHT} < 0)"
    )
    relations = {
        _STORED: f"SELECT {names}, 0 AS {BATCH_COLUMN}, {ids} FROM {state}",
        _ADDED: f"SELECT {names}, 1 AS {BATCH_COLUMN}, {ids} FROM {write.step}, {copies}",
        _FOUND: translated(found),
        _CHECKED: f"SELECT CASE WHEN {missing} THEN error('a row to be removed is not stored') END AS fine",
    }
    # Materialized: the numbers of rows must be the same wherever they are read.
    named = ", ".join(f"{name} AS MATERIALIZED ({query})" for name, query in relations.items())
    rows = translated(bag_near.rewrite_state(write.columns, _STORED, _ADDED, _FOUND))
    return f"WITH {named} SELECT {names} FROM ({rows}) CROSS JOIN {_CHECKED}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_name(name) for name in names)


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
