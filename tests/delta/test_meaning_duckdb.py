"""The SQL of delta plans in DuckDB: bag(before) + delta = bag(after), for random queries, tables and batches."""

from __future__ import annotations

from collections import Counter
from random import Random

import duckdb
import pytest

from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.simplify import simplify
from ivm_core.delta.states import after, before
from ivm_core.job.chains import cut_chains, largest_first
from ivm_core.job.factors import factor_terms
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import At, Changes, Plan, Scan, ScanColumn, base_tables, walk
from ivm_core.plan.schema import types_of
from ivm_core.plan.to_sql import to_sql
from tests.delta.random_plans import TABLES, RandomPlans, random_tables
from tests.sampling import one_in
from tests.zset import Table, as_weights, difference

QUERIES_PER_BLOCK = 30
BATCHES_PER_QUERY = 8
BLOCKS = one_in(3, range(10))  # 2,400 cases, 960 in the ordinary run


@pytest.mark.parametrize("block", BLOCKS)
def test_sql_of_deltas(block: int) -> None:
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("PRAGMA disable_optimizer")  # planning would be most of the time
        for seed in range(block * QUERIES_PER_BLOCK, (block + 1) * QUERIES_PER_BLOCK):
            check_query(connection, seed)


def check_query(connection: duckdb.DuckDBPyConnection, seed: int) -> None:
    """One query, several batches; call it with a failing seed to see the case again."""
    random = Random(seed)
    query = RandomPlans(random, generate=False).plan(depth=random.choice((1, 2, 2, 3)))
    read = sorted(base_tables(query))
    changed = frozenset(read if random.random() < 0.6 else random.sample(read, k=min(len(read), 1)))
    textbook = differentiate(query, changed)
    deltas = {"textbook": textbook, "simplified": simplify(textbook)}
    _create(connection)
    states = [_prepare(connection, f"state_{at}", plan(query, changed)) for at, plan in _STATES.items()]
    prepared = {name: _prepare(connection, name, delta) for name, delta in deltas.items()}
    prepared["ordered and cut"] = _prepare_cut(connection, random, query, changed)
    for number in range(BATCHES_PER_QUERY):
        tables = random_tables(random, frozenset(TABLES) - changed)
        _load(connection, tables)
        expected = difference(*(Counter(connection.execute(sql).fetchall()) for sql in states))
        for name, sql in prepared.items():
            found = as_weights(Counter(connection.execute(sql).fetchall()))
            if found != expected:
                case = f"seed {seed}, batch {number}, {name}\n{explain(query)}\n{tables}\n{explain(deltas[name]) if name in deltas else ''}\n{sql}"
                pytest.fail(f"{case}\nfound {found}\nexpected {expected}")


_STATES = {"after": after, "before": before}


def _prepare(connection: duckdb.DuckDBPyConnection, prefix: str, plan: Plan) -> str:
    """The plan's SQL over views of its leaves."""
    leaves = dict.fromkeys(node for node in walk(plan) if isinstance(node, Scan | Changes))
    names = {leaf: f"{prefix}_{number}" for number, leaf in enumerate(leaves)}
    for leaf, name in names.items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {_leaf_sql(leaf)}")
    return to_sql(plan, dialect="duckdb", leaf_name=names.__getitem__)


def _prepare_cut(connection: duckdb.DuckDBPyConnection, random: Random, query: Plan, changed: frozenset[str]) -> str:
    """The delta as jobs have it: the largest input first, chains of joins by what is known of tables, cut into steps."""
    sizes = (None, 1, LARGE, 8 * LARGE)
    facts = {
        name: TableFacts(random.choice(sizes), tuple(column for column, _ in columns[: random.randrange(2)]))
        for name, columns in TABLES.items()
    }
    steps = 0

    def make_step(prefix: Plan, _: str) -> Plan:
        nonlocal steps
        steps += 1
        name = f"cut_step_{steps}"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {_prepare(connection, name, prefix)}")
        types = types_of(prefix)
        return Scan(name, tuple(ScanColumn(n, n, types.get(n) or "string") for n in prefix.names), At.AFTER)

    delta = factor_terms(simplify(differentiate(largest_first(query, facts), changed)), facts)
    cut = cut_chains(delta, facts, lambda scan: scan.table.startswith("cut_step_"), make_step)
    return _prepare(connection, "cut", cut)


def _leaf_sql(leaf: Scan | Changes) -> str:
    """What the engine shows under a leaf's name; changes are netted over exactly the leaf's columns."""
    if leaf.table.startswith("cut_step_"):
        return f"SELECT * FROM {leaf.table}"
    table = leaf.table.rpartition(".")[2]
    shown = ", ".join(column.source for column in leaf.columns)
    if isinstance(leaf, Scan):
        return f"SELECT {shown} FROM {table}_{'before' if leaf.at is At.BEFORE else 'after'}"
    sides = f"SELECT *, 1 AS weight FROM {table}_after UNION ALL SELECT *, -1 FROM {table}_before"
    weight = "CAST(SUM(weight) AS BIGINT) AS __ivm_weight"
    return f"SELECT {shown}, {weight} FROM ({sides}) GROUP BY {shown} HAVING SUM(weight) <> 0"


def _create(connection: duckdb.DuckDBPyConnection) -> None:
    for name, columns in TABLES.items():
        typed = ", ".join(f"{column} {type_}" for column, type_ in columns)
        for state in _STATES:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {name.rpartition('.')[2]}_{state} ({typed})")


def _load(connection: duckdb.DuckDBPyConnection, tables: dict[str, Table]) -> None:
    statements = []
    for name, table in tables.items():
        for state, rows in (("before", table.before), ("after", table.after)):
            stored = f"{name.rpartition('.')[2]}_{state}"
            statements.append(f"DELETE FROM {stored}")
            if rows:
                literals = (
                    "(" + ", ".join("NULL" if cell is None else repr(cell) for cell in row) + ")" for row in rows
                )
                statements.append(f"INSERT INTO {stored} VALUES {', '.join(literals)}")
    connection.execute("; ".join(["BEGIN", *statements, "COMMIT"]))
