"""Spark agrees: each query and its plan's SQL give the same rows, under the names and types that the plan says."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ArithmeticException, SparkRuntimeException

from ivm_core.errors import UnsupportedConstruct
from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.normalize import normalize
from ivm_core.plan.schema import types_of
from ivm_core.plan.to_sql import to_sql
from tests.plan.odd_queries import ODD
from tests.plan.queries import QUERIES, SPARK_ONLY, TABLES
from tests.plan.test_meaning import random_rows, rounded
from tests.sampling import one_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.slow)])
def database(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[None]:
    """The tables as views under their own names, without storage."""
    source = random.Random(request.param)
    spark.sql("CREATE SCHEMA IF NOT EXISTS shop").collect()
    for schema in TABLES.values():
        rows = random_rows(source, tuple(kind for _, kind in schema.columns))
        rows = rows if request.param == 1 else rows[:4]
        columns = ", ".join(f"{name} {kind}" for name, kind in schema.columns)
        spark.createDataFrame(rows, columns).createOrReplaceTempView(schema.name.partition(".")[2])
    yield
    for schema in TABLES.values():
        spark.catalog.dropTempView(schema.name.partition(".")[2])
    spark.sql("DROP SCHEMA shop CASCADE").collect()


# DuckDB checks all QUERIES in the ordinary run; Spark a part of them there, and all with the slow tests.
SAMPLED = one_in(16, QUERIES)


SAMPLED += one_in(8, ODD)


@pytest.mark.parametrize("sql", (*SAMPLED, *SPARK_ONLY))
def test_spark_gives_the_same_rows(spark: SparkSession, database: None, sql: str) -> None:
    try:
        plan = from_sql(sql, TABLES, "shop")
    except UnsupportedConstruct as refused:
        pytest.skip(str(refused))
    try:
        expected = spark.sql(sql)
    except AnalysisException:  # what Spark refuses, and we do not, has DuckDB's answer in test_meaning
        assert tuple(spark.sql(to_sql(plan, leaf_name=lambda leaf: leaf.table.partition(".")[2])).columns) == plan.names
        return
    assert tuple(expected.columns) == plan.names
    try:
        rows = [comparable(row) for row in expected.collect()]
    except ArithmeticException:  # what fails for these rows must fail in every form
        with pytest.raises(ArithmeticException):
            spark.sql(to_sql(plan, leaf_name=lambda leaf: leaf.table.partition(".")[2])).collect()
        return
    except (SparkRuntimeException, Py4JJavaError) as failure:
        assert "SCALAR_SUBQUERY_TOO_MANY_ROWS" in str(failure)
        for candidate in (plan, normalize(plan)):
            with pytest.raises(SparkRuntimeException, match="more than one row"):
                spark.sql(to_sql(candidate, leaf_name=lambda leaf: leaf.table.partition(".")[2])).collect()
        return
    for candidate in (plan, normalize(plan)):
        query = to_sql(candidate, leaf_name=lambda leaf: leaf.table.partition(".")[2])
        result = spark.sql(query)
        assert tuple(result.columns) == plan.names
        known = types_of(candidate)
        for field in result.schema.fields:
            assert known[field.name] in (None, field.dataType.simpleString()), field.name
        assert rounded([comparable(row) for row in result.collect()]) == rounded(rows), f"{explain(candidate)}\n{query}"


def comparable(row: Iterable[object]) -> tuple[object, ...]:
    """Lists, maps and structs as text, so that rows can be counted."""
    return tuple(cell if isinstance(cell, Hashable) else str(cell) for cell in row)
