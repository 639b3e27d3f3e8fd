"""Deltas of queries that tell the time: bag(before) + delta = bag(after), when rows change, time moves, or both."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping
from functools import cache
from random import Random

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from ivm_core.delta.clock import PARAMETERS, pin_clock
from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.simplify import simplify
from ivm_core.delta.states import after, before
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.nodes import At, Changes, Plan, Scan, base_tables, walk
from ivm_core.plan.normalize import normalize
from ivm_core.plan.to_sql import to_sql
from tests.plan.queries import CLOCK as QUERIES
from tests.plan.queries import TABLES
from tests.plan.test_meaning import Row, random_rows
from tests.zset import as_weights, difference

BATCHES = 6
COLUMNS = {name: schema.columns for name, schema in TABLES.items()} | {
    CLOCK: (("now", "timestamp"), ("today", "date"), ("local", "timestamp"))
}
Instants = Mapping[At, datetime.datetime]


@pytest.mark.parametrize("sql", QUERIES)
def test_delta_is_the_difference(sql: str) -> None:
    query = normalize(from_sql(sql, TABLES, "shop"))
    random = Random(sql)
    with duckdb.connect() as connection:
        for name, columns in COLUMNS.items():
            typed = ", ".join(f"{column} {'varchar' if type_ == 'string' else type_}" for column, type_ in columns)
            for state in ("before", "after"):
                connection.execute(f"CREATE TABLE {_stored(name, state)} ({typed})")
        for batch in range(BATCHES):
            moved = batch % 3 != 0
            changed = base_tables(query) if batch % 3 == 1 else frozenset({CLOCK}) if moved else frozenset(TABLES)
            changed &= base_tables(query)
            instants = _load(connection, random, changed)
            expected = difference(*(_rows(connection, plan(query, changed)) for plan in (after, before)))
            for name, delta in _deltas(query, changed).items():
                found = as_weights(_rows(connection, delta, instants))
                assert found == expected, f"{name}, batch {batch}\n{explain(query)}\n{explain(delta)}\n{instants}"


def test_rows_that_stay_are_not_read_twice() -> None:
    query = normalize(from_sql("select a from t where d >= current_date() - 7", TABLES, "shop"))
    delta = simplify(pin_clock(differentiate(query, frozenset({CLOCK}))))
    assert explain(delta).count(" AND d < CAST(:clock_") == 2


@cache
def _deltas(query: Plan, changed: frozenset[str]) -> dict[str, Plan]:
    textbook = differentiate(query, changed)
    pinned = pin_clock(textbook)
    assert CLOCK not in base_tables(pinned)
    return {"textbook": textbook, "pinned": pinned, "simplified": simplify(pinned)}


@cache
def _query(plan: Plan) -> tuple[dict[str, str], exp.Expr]:
    """The plan's SQL, and that of its leaves by name."""
    leaves = dict.fromkeys(node for node in walk(plan) if isinstance(node, Scan | Changes))
    names = {leaf: f"leaf_{number}" for number, leaf in enumerate(leaves)}
    text = to_sql(plan, dialect="duckdb", leaf_name=names.__getitem__)
    return {name: _leaf_sql(leaf) for leaf, name in names.items()}, sqlglot.parse_one(text, read="duckdb")


def _rows(connection: duckdb.DuckDBPyConnection, plan: Plan, instants: Instants | None = None) -> Counter[Row]:
    leaves, tree = _query(plan)
    for name, sql in leaves.items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")
    told = {PARAMETERS[at]: str(instant) for at, instant in (instants or {}).items()}

    def fill(node: exp.Expr) -> exp.Expr:
        parameter = isinstance(node, exp.Placeholder | exp.Parameter)
        return exp.cast(exp.Literal.string(told[node.name]), "timestamp") if parameter else node

    return Counter(connection.execute(tree.transform(fill).sql("duckdb")).fetchall())


def _leaf_sql(leaf: Scan | Changes) -> str:
    shown = ", ".join(f"{column.source}" for column in leaf.columns)
    sides = {state: _stored(leaf.table, state) for state in ("before", "after")}
    if isinstance(leaf, Scan):
        return f"SELECT {shown} FROM {sides['before' if leaf.at is At.BEFORE else 'after']}"
    both = f"SELECT *, 1 AS weight FROM {sides['after']} UNION ALL SELECT *, -1 FROM {sides['before']}"
    weight = "CAST(SUM(weight) AS BIGINT) AS __ivm_weight"
    return f"SELECT {shown}, {weight} FROM ({both}) GROUP BY {shown} HAVING SUM(weight) <> 0"


def _stored(table: str, state: str) -> str:
    return f"{table.replace('.', '_')}_{state}"


def _load(connection: duckdb.DuckDBPyConnection, random: Random, changed: frozenset[str]) -> Instants:
    for name, schema in TABLES.items():
        kinds = tuple(kind for _, kind in schema.columns)
        old = [_near(random, row) for row in random_rows(random, kinds, most=6)]
        new = [row for row in old if random.random() < 0.7] + random_rows(random, kinds, most=2)
        _fill(connection, name, old, new if name in changed else old)
    first = datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=random.randrange(140))
    second = first + datetime.timedelta(hours=random.choice((1, 24, 30, 72))) if CLOCK in changed else first
    _fill(connection, CLOCK, *([(instant, instant.date(), instant)] for instant in (first, second)))
    return {At.BEFORE: first, At.AFTER: second}


def _near(random: Random, row: Row) -> Row:
    """Dates around the instants."""
    days = datetime.date(2024, 1, 1) + datetime.timedelta(days=random.randrange(-3, 8))
    return tuple(days if isinstance(value, datetime.date) else value for value in row)


def _fill(connection: duckdb.DuckDBPyConnection, name: str, old: list[Row], new: list[Row]) -> None:
    for state, rows in (("before", old), ("after", new)):
        connection.execute(f"DELETE FROM {_stored(name, state)}")
        if rows:
            marks = ", ".join("?" for _ in rows[0])
            connection.executemany(f"INSERT INTO {_stored(name, state)} VALUES ({marks})", rows)
