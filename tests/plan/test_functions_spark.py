"""Spark's own list of functions, and the examples in its documentation: none is new, none is read as another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from ivm_core.errors import DefinitionError
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.to_sql import to_sql
from tests.plan.test_functions import FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
EXAMPLE = re.compile(r"> (SELECT.*?);\s*\n", re.DOTALL)
KNOWN = frozenset(name for names in FUNCTIONS.values() for name in names)


def test_each_function_of_spark_is_known(spark: SparkSession) -> None:
    listed = {row["function"] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert listed - KNOWN == set(), "say in tests/fixtures/plan/spark_functions.txt what these functions are"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["aggregate", "scalar", "window", "time window"])
def test_the_examples_of_the_documentation_give_the_same(spark: SparkSession, kind: str) -> None:
    wrong = []
    for name in FUNCTIONS[kind]:
        text = "\n".join(row[0] for row in spark.sql(f"DESCRIBE FUNCTION EXTENDED {name}").collect())
        wrong += [found for sql in EXAMPLE.findall(text) if (found := difference(spark, sql)) is not None]
    assert not wrong


def difference(spark: SparkSession, sql: str) -> str | None:
    """How the compiled query differs from the query; None where it does not, or where either is refused."""
    try:
        expected = spark.sql(sql)
        rows = [str(row) for row in expected.collect()]
        labels = ", ".join(f"c{place}" for place in range(len(expected.columns)))
        plan = from_sql(f"SELECT * FROM ({sql}) AS q({labels})", {}, "shop")
    except (DefinitionError, PySparkException):
        return None
    compiled = to_sql(plan)
    try:
        result = spark.sql(compiled)
        found = [str(row) for row in result.toDF(*expected.columns).collect()]
    except PySparkException as error:
        return f"{sql}\n{compiled}\n{error}"
    types = [f.dataType for f in result.schema], [f.dataType for f in expected.schema]
    return None if sorted(found) == sorted(rows) and types[0] == types[1] else f"{sql}\n{compiled}\n{found}\n{rows}"
