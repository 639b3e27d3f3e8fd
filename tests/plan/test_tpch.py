"""The 22 queries of TPC-H: every one has a plan, and the plan's SQL gives the query's rows on generated data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot

from bench.tpch_data import TABLES, generate
from ivm_core.plan.definition import parse_table
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.nodes import Join, JoinKind, walk
from ivm_core.plan.normalize import normalize
from ivm_core.plan.schema import types_of
from ivm_core.plan.to_sql import to_sql

ROOT = Path(__file__).parents[2]
QUERIES = sorted((ROOT / "tests/fixtures/plan/tpch").glob("q*.sql"))
SCHEMAS = {
    table.name: table.schema
    for table in (parse_table(file.read_text()) for file in (ROOT / "sql/tpch/tables").glob("*.sql"))
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = generate(0.01, tmp_path_factory.getbasetemp().parent / "tpch")
    with duckdb.connect() as opened:
        opened.execute("CREATE SCHEMA tpch")
        opened.execute("USE tpch")
        for table in TABLES:
            files = str(folder / table / "**" / "*.parquet")
            opened.read_parquet(files).create(table)
        yield opened


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: file.stem)
def test_a_plan_gives_the_rows_of_its_query(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    sql = file.read_text()
    plan = from_sql(sql, SCHEMAS, "tpch")
    normal = normalize(plan)
    expected = connection.execute(sqlglot.transpile(sql, read="spark", write="duckdb")[0])
    columns = len(expected.description)
    rows = Counter(expected.fetchall())
    for candidate in (plan, normal):
        query = to_sql(candidate, dialect="duckdb")
        result = connection.execute(query)
        assert len(result.description) == columns
        assert _rounded(result.fetchall()) == _rounded(rows.elements()), query
    assert rows or file.stem in ("q20",), "a query without rows shows nothing"


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: file.stem)
def test_normal_plans_have_no_products_and_known_types(file: Path) -> None:
    plan = normalize(from_sql(file.read_text(), SCHEMAS, "tpch"))
    assert normalize(plan) == plan
    joins = [node for node in walk(plan) if isinstance(node, Join)]
    assert all(join.condition is not None for join in joins)
    # Conditions that reject NULLs have made every outer join an inner one, but for the query about customers without orders.
    assert [join.kind for join in joins if join.kind == JoinKind.LEFT] == (
        [JoinKind.LEFT] if file.stem == "q13" else []
    )
    assert None not in types_of(plan).values()


def _rounded(rows: object) -> Counter[tuple[object, ...]]:
    """Floating-point results may differ in their last digits with the order of additions."""
    assert isinstance(rows, object)
    return Counter(tuple(float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in row) for row in rows)  # type: ignore[attr-defined]
