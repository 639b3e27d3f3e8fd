"""Where the type rules answer, they must say what Spark says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.schema import TableSchema, types_of
from tests.plan.expressions import AGGREGATES, COLUMNS, ROWWISE, WINDOWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = TableSchema("default.typed", COLUMNS)


@pytest.mark.spark
@pytest.mark.parametrize("expressions", [ROWWISE, AGGREGATES, WINDOWS], ids=["rowwise", "aggregates", "windows"])
def test_types_are_those_of_spark(spark: SparkSession, expressions: list[str]) -> None:
    spark.createDataFrame([], ", ".join(f"{name} {kind}" for name, kind in COLUMNS)).createOrReplaceTempView("typed")
    wrong = {}
    for sql in expressions:
        query = f"SELECT {sql} AS answer FROM typed"
        ours = types_of(from_sql(query, {"default.typed": TABLE}))["answer"]
        theirs = spark.sql(query).schema["answer"].dataType.simpleString()
        if ours not in (None, theirs):
            wrong[sql] = f"{ours} instead of {theirs}"
    spark.catalog.dropTempView("typed")
    assert not wrong
