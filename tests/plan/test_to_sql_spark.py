"""The same plans give the same rows in Spark as in DuckDB, one operator at a time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from sqlglot import exp

from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import Changes, Plan, Scan, Values
from ivm_core.plan.read_text import read_text
from ivm_core.plan.to_sql import to_sql
from tests.plans import TABLES, Row, plans
from tests.spec import read_specs
from tests.stepwise import fill, open_database, run_stepwise

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLANS = read_specs(Path(__file__).parent.parent / "fixtures" / "plan" / "to_sql_spark.spec")
DATABASE: dict[str, list[Row]] = {
    "default.r": [(1, 1, "x"), (1, 2, "x"), (2, None, "y"), (None, 1, None), (3, 3, ""), (1, 1, "x")],
    "default.q": [(1, 0), (1, 1), (2, 2), (None, 3), (None, None)],
    "other.p": [(1, "x", 1), (2, None, 2), (None, "y", None), (3, "x", 1)],
}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """The session, with the tables as temporary views."""
    for table in TABLES:
        names, types = zip(*table.columns, strict=True)
        rows = tuple(tuple(exp.convert(cell) for cell in row) for row in DATABASE[table.name])
        spark.sql(to_sql(Values(names, types, rows))).createOrReplaceTempView(view_name(Scan(table.name, ())))
    return spark


@pytest.mark.parametrize("text", [spec.input for spec in PLANS], ids=[spec.title for spec in PLANS])
def test_spark_agrees(session: SparkSession, text: str) -> None:
    check(session, read_text(text))


@seed(20260)
@given(plan=plans(max_depth=3))
@settings(
    deadline=None, max_examples=12, phases=[Phase.generate], suppress_health_check=list(HealthCheck), database=None
)
def test_spark_agrees_on_random_plans(session: SparkSession, plan: Plan) -> None:
    check(session, plan)


def check(spark: SparkSession, plan: Plan) -> None:
    sql = to_sql(plan, leaf_name=view_name)
    frame = spark.sql(sql)
    assert tuple(frame.columns) == plan.names, sql
    with open_database() as connection:
        fill(connection, DATABASE)
        expected = run_stepwise(connection, plan)
    assert Counter(tuple(row) for row in frame.collect()) == expected, f"{explain(plan)}\n{sql}"


def view_name(leaf: Scan | Changes) -> str:
    return leaf.table.replace(".", "_")
