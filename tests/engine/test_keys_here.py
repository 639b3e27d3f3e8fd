"""Distinct keys found by this process: what Spark would find, or nothing said."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
import sqlglot

from ivm_core.engine.keys_here import distinct_here
from ivm_core.engine.queries import frame_of
from ivm_core.engine.small import SmallRelation
from ivm_core.plan.dialect import SparkAsWritten

ROWS = pa.table(
    {
        "a": pa.array([1, 1, 2, None, None, 2], pa.int32()),
        "b": pa.array([1, 1, 3, 1, None, 3], pa.int32()),
        "Wide": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        ".name": ["x", "x", "", None, "é", ""],
        "of": [date(1582, 10, 4), date(2024, 1, 1), None, None, date(2024, 1, 1), None],
        "until": [date(2024, 1, 1), date(2024, 1, 1), None, date(2024, 1, 1), date(1582, 10, 4), None],
        "price": pa.array([Decimal("1.50"), Decimal("1.50"), None, Decimal("0.00"), None, None], pa.decimal128(10, 2)),
        "flag": [True, False, None, True, None, True],
        "real": [0.0, -0.0, None, float("nan"), 1.0, None],
        "struct": [{"b": 1}, {"b": 2}, None, {"b": 1}, {"b": 1}, None],
        "__ivm_weight": pa.array([1, -1, 1, 1, -1, 1], pa.int64()),
    }
)
FOUND_HERE = (
    "SELECT DISTINCT a AS k FROM r",
    "SELECT DISTINCT r.a AS k1, r.B AS k2 FROM r AS r",
    "SELECT DISTINCT `.name`, price, flag, of FROM R",
    "SELECT DISTINCT a AS k FROM r WHERE a = b",
    "SELECT DISTINCT a AS k FROM r WHERE NOT (a <> b) OR a IS NULL",
    "SELECT DISTINCT wide AS k FROM r WHERE of < until AND NOT of IS NULL",
    "SELECT DISTINCT `.name` AS k FROM r WHERE of >= until AND flag IS NULL",
    "SELECT DISTINCT a AS k FROM r WHERE a < b AND a > b",
)
LEFT_TO_SPARK = (
    "SELECT a AS k FROM r",
    "SELECT DISTINCT a + 1 AS k FROM r",
    "SELECT DISTINCT real AS k FROM r",
    "SELECT DISTINCT struct AS k FROM r",
    "SELECT DISTINCT struct.b AS k FROM r",
    "SELECT DISTINCT a AS k FROM r WHERE a = 1",
    "SELECT DISTINCT a AS k FROM r WHERE a <=> b",
    "SELECT DISTINCT a AS k FROM r WHERE a = wide",
    "SELECT DISTINCT a AS k FROM r WHERE a = b AND real = real",
    "SELECT DISTINCT a AS k FROM r JOIN s USING (a)",
    "SELECT DISTINCT a AS k FROM (SELECT a FROM r) AS r",
    "SELECT DISTINCT a AS k FROM r LIMIT 1",
    "SELECT DISTINCT count(*) AS k FROM r GROUP BY a",
    "SELECT DISTINCT a AS k FROM s",
    "SELECT DISTINCT a AS k FROM elsewhere",
    "SELECT DISTINCT a AS k FROM r UNION ALL SELECT a FROM r",
)


def relations() -> dict[str, SmallRelation]:
    return {"r": SmallRelation(None, ROWS.num_rows, here=ROWS), "elsewhere": SmallRelation(None, 6)}


def answer(query: str) -> pa.Table | None:
    return distinct_here(sqlglot.parse_one(query, read=SparkAsWritten), relations())


@pytest.mark.spark
@pytest.mark.parametrize("query", FOUND_HERE)
def test_the_answer_is_what_spark_says(spark, query):
    frame_of(spark, ROWS).createOrReplaceTempView("r")
    expected, found = spark.sql(query).toArrow(), answer(query)
    assert found is not None
    assert found.schema.types == expected.schema.types
    assert [n.lower() for n in found.column_names] == [n.lower() for n in expected.column_names]
    assert sorted(map(repr, found.to_pylist())) == sorted(
        map(repr, expected.rename_columns(found.column_names).to_pylist())
    )


@pytest.mark.parametrize("query", LEFT_TO_SPARK)
def test_any_other_query_is_left_to_spark(query):
    assert answer(query) is None


def test_of_no_rows_there_are_no_keys():
    nothing = {"r": SmallRelation(None, 0, here=ROWS.slice(0, 0))}
    found = distinct_here(sqlglot.parse_one("SELECT DISTINCT a AS k FROM r WHERE a = b", read=SparkAsWritten), nothing)
    assert found is not None
    assert (found.num_rows, found.schema.types) == (0, [pa.int32()])
