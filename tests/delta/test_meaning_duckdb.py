"""The SQL of delta plans in DuckDB: bag(before) + delta = bag(after), for random queries, tables and batches."""

from __future__ import annotations

from collections import Counter
from random import Random

import duckdb
import pytest

from ivm_core.delta.differentiate import after, before, differentiate
from ivm_core.delta.simplify import simplify
from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import At, Changes, Plan, Scan, walk
from ivm_core.plan.to_sql import to_sql
from tests.delta.random_plans import TABLES, RandomPlans, changed_in, random_tables
from tests.zset import Bag, Table, as_weights, difference

QUERIES_PER_BLOCK = 70
BATCHES_PER_QUERY = 4
BLOCKS = 10  # 2,800 cases


@pytest.mark.parametrize("block", range(BLOCKS))
def test_sql_of_deltas(block: int) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for seed in range(block * QUERIES_PER_BLOCK, (block + 1) * QUERIES_PER_BLOCK):
            check_query(connection, seed)


def check_query(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    """One query, several batches; call it with a failing seed to see the case again."""
    random = Random(seed)
    query = RandomPlans(random, generate=False).plan(depth=random.choice((1, 2, 2, 3)))
    for number in range(BATCHES_PER_QUERY):
        tables = random_tables(random)
        changed = changed_in(tables)
        textbook = differentiate(query, changed)
        plans = {"textbook": textbook, "simplified": simplify(textbook)}
        _load(connection, tables)
        expected = difference(_run(connection, after(query, changed)), _run(connection, before(query, changed)))
        for name, delta in plans.items():
            found = as_weights(_run(connection, delta))
            assert found == expected, (
                f"seed {seed}, batch {number}, {name}\n{explain(query)}\n{tables}\n{explain(delta)}"
            )


def _run(connection: duckdb.DuckDBPyConnection, plan: Plan) -> Bag:
    leaves = dict.fromkeys(node for node in walk(plan) if isinstance(node, Scan | Changes))
    names = {leaf: f"leaf_{number}" for number, leaf in enumerate(leaves)}
    for leaf, name in names.items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {_leaf_sql(leaf)}")
    return Counter(connection.execute(to_sql(plan, dialect="duckdb", leaf_name=names.__getitem__)).fetchall())


def _leaf_sql(leaf: Scan | Changes) -> str:
    """What the engine shows under a leaf's name; changes are netted over exactly the leaf's columns."""
    table = leaf.table.rpartition(".")[2]
    shown = ", ".join(column.source for column in leaf.columns)
    if isinstance(leaf, Scan):
        return f"SELECT {shown} FROM {table}_{'before' if leaf.at is At.BEFORE else 'after'}"
    sides = f"SELECT *, 1 AS weight FROM {table}_after UNION ALL SELECT *, -1 FROM {table}_before"
    weight = "CAST(SUM(weight) AS BIGINT) AS __ivm_weight"
    return f"SELECT {shown}, {weight} FROM ({sides}) GROUP BY {shown} HAVING SUM(weight) <> 0"


def _load(connection: duckdb.DuckDBPyConnection, tables: dict[str, Table]) -> None:
    for name, table in tables.items():
        columns = ", ".join(f"{column} {type_}" for column, type_ in TABLES[name])
        for state, rows in (("before", table.before), ("after", table.after)):
            stored = f"{name.rpartition('.')[2]}_{state}"
            connection.execute(f"CREATE TABLE IF NOT EXISTS {stored} ({columns})")
            connection.execute(f"DELETE FROM {stored}")
            if rows:
                row = "(" + ", ".join("?" * len(rows[0])) + ")"
                connection.execute(f"INSERT INTO {stored} VALUES " + ", ".join([row] * len(rows)), sum(rows, ()))
