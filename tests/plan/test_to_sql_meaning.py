"""Generated SQL against the meaning of plans: the merged query gives what its operators give one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import Plan
from ivm_core.plan.to_sql import to_sql
from tests.plans import Row, databases, plans
from tests.stepwise import fill, open_database, run_stepwise


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_database() as opened:
        yield opened


@given(plan=plans(), database=databases())
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
def test_one_query_means_what_its_operators_mean(
    connection: duckdb.DuckDBPyConnection, plan: Plan, database: dict[str, list[Row]]
) -> None:
    fill(connection, database)
    expected = run_stepwise(connection, plan)
    sql = to_sql(plan, dialect="duckdb")
    result = connection.execute(sql)
    assert tuple(column[0] for column in result.description) == plan.names, sql
    assert Counter(result.fetchall()) == expected, f"{explain(plan)}\n{sql}"
