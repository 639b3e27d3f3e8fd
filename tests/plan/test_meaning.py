"""A query and its plan's SQL give the same rows, before and after normalising, on random small tables."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import pytest
import sqlglot

from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.normalize import normalize
from ivm_core.plan.to_sql import to_sql
from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb
from tests.plan.queries import QUERIES, REWRITTEN, TABLES

Row = tuple[object, ...]
DATABASES = 12


def random_rows(source: random.Random, types: tuple[str, ...], most: int = 9) -> list[Row]:
    """Few different values, so that rows join, repeat and are NULL; sometimes no rows at all."""
    choices: dict[str, list[object]] = {
        "int": [None, 0, 1, 2, 3],
        "bigint": [None, 1, 2],
        "string": [None, "x", "xy", "z"],
        "date": [None, datetime.date(2024, 1, 2), datetime.date(2024, 2, 29)],
        "double": [None, 0.0, 0.1, 0.2, 2.5],
        "binary": [None, b"", b"x", b"\x00\xff"],
        "array<int>": [None, [], [1], [1, 2], [2, 1, None]],
        "struct<p:int,q:string>": [None, {"p": 1, "q": "x"}, {"p": 1, "q": None}, {"p": None, "q": None}],
    }
    decimals: list[object] = [None, Decimal("0.50"), Decimal("1.25"), Decimal("3.00")]
    rows = source.choice((0, most, most, most, 2 * most))
    return [tuple(source.choice(choices.get(kind, decimals)) for kind in types) for _ in range(rows)]


@pytest.fixture(scope="module")
def databases() -> Iterator[list[duckdb.DuckDBPyConnection]]:
    source = random.Random(20)
    opened = []
    for _ in range(DATABASES):
        connection = duckdb.connect()
        connection.execute("CREATE SCHEMA shop")
        connection.execute("USE shop")
        for schema in TABLES.values():
            columns = ", ".join(f"{name} {'varchar' if kind == 'string' else kind}" for name, kind in schema.columns)
            connection.execute(f"CREATE TABLE {schema.name} ({columns})")
            rows = random_rows(source, tuple(kind for _, kind in schema.columns))
            if rows:
                marks = ", ".join("?" for _ in schema.columns)
                connection.executemany(f"INSERT INTO {schema.name} VALUES ({marks})", rows)
        opened.append(connection)
    yield opened
    for connection in opened:
        connection.close()


@pytest.mark.parametrize("sql", QUERIES)
def test_a_plan_gives_the_rows_of_its_query(databases: list[duckdb.DuckDBPyConnection], sql: str) -> None:
    plan = from_sql(sql, TABLES, "shop")
    normal = normalize(plan)
    assert normalize(normal) == normal
    assert normal.names == plan.names
    tree = sqlglot.parse_one(sql, read="spark")
    adapt_to_duckdb(tree)
    original = tree.sql(dialect="duckdb")
    for connection in databases:
        forms = [to_sql(candidate, dialect="duckdb") for candidate in (plan, normal)]
        try:
            expected = rounded(connection.execute(original).fetchall())
        except duckdb.InvalidInputException:  # a scalar subquery of several rows: every form must fail
            for query in forms:
                with pytest.raises(duckdb.InvalidInputException, match="more than one row"):
                    connection.execute(query).fetchall()
            continue
        for candidate, query in zip((plan, normal), forms, strict=True):
            result = connection.execute(query)
            assert tuple(item[0] for item in result.description) == plan.names
            assert rounded(result.fetchall()) == expected, f"{original}\n{explain(candidate)}\n{query}"


@pytest.mark.parametrize("pair", REWRITTEN, ids=lambda pair: pair.partition(" | ")[0])
def test_a_plan_gives_the_rows_of_another_query(databases: list[duckdb.DuckDBPyConnection], pair: str) -> None:
    sql, other = pair.split(" | ")
    plan = from_sql(sql, TABLES, "shop")
    original = sqlglot.transpile(other, read="spark", write="duckdb")[0]
    for connection in databases:
        expected = rounded(connection.execute(original).fetchall())
        for candidate in (plan, normalize(plan)):
            query = to_sql(candidate, dialect="duckdb")
            assert rounded(connection.execute(query).fetchall()) == expected, f"{explain(candidate)}\n{query}"


def rounded(rows: list[Row]) -> Counter[Row]:
    """The bag of rows; floating-point sums may differ in their last digits with the order of additions."""
    return Counter(tuple(float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in row) for row in rows)
