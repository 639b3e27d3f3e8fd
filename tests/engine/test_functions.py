"""Functions of users: those whose value depends on a row alone pass, the others are refused where they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import sqlglot
from pyspark.sql.types import DoubleType, IntegerType

from ivm_core.engine.functions import check_functions
from ivm_core.engine.queries import is_connect
from ivm_core.engine.tables import analyse
from ivm_core.errors import DefinitionError, NondeterministicError, UnsupportedConstruct
from ivm_core.plan.dialect import SparkAsWritten

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Name and parameters with the return type, body.
WRITTEN_IN_SQL = (
    ("twice(a INT) RETURNS INT", "a * 2"),
    ("highest() RETURNS INT", "(SELECT max(k) FROM {schema}.p)"),
    ("listed(a INT) RETURNS BOOLEAN", "EXISTS (SELECT 1 FROM {schema}.p WHERE k = a)"),
    ("today() RETURNS DATE", "current_date()"),
    ("dice() RETURNS DOUBLE", "rand()"),
    ("inner_dice(a INT) RETURNS DOUBLE", "{schema}.dice() + a"),
    ("four() RETURNS INT", "{schema}.twice(2)"),
)
KEPT = ("{s}.twice(k)", "{s}.four()", "plus_one(k)", "kurtosis(k)", "no_such_function(k)", "array_size(array(k))")
REFUSED = {
    "{s}.highest()": (NondeterministicError, "reads tables"),
    "1 + {s}.listed(k)": (NondeterministicError, "reads tables"),
    "spark_catalog.{s}.today()": (NondeterministicError, "tells the time"),
    "{s}.dice()": (NondeterministicError, "differs from run to run"),
    "abs({s}.inner_dice(k))": (NondeterministicError, "differs from run to run"),
    "shaken(k, 2)": (NondeterministicError, "not deterministic"),
    "middle(k)": (UnsupportedConstruct, "which aggregates and is not declared"),
}


@pytest.fixture(scope="module")
def functions(spark: SparkSession):
    if is_connect(spark):  # these build for the kind of session that they are imported for
        from pyspark.sql.connect.functions import pandas_udf, udf
    else:
        from pyspark.sql.functions import pandas_udf, udf

    spark.sql("CREATE SCHEMA functions").collect()
    spark.sql("CREATE TABLE functions.p (k INT) USING PARQUET").collect()
    for head, body in WRITTEN_IN_SQL:
        spark.sql(f"CREATE FUNCTION functions.{head} RETURN {body.format(schema='functions')}").collect()
    spark.udf.register("plus_one", udf(lambda x: x + 1, IntegerType()))
    spark.udf.register("shaken", udf(lambda x, y: x, IntegerType()).asNondeterministic())

    def middle(values: pd.Series) -> float:
        return float(values.mean())

    spark.udf.register("middle", pandas_udf(middle, DoubleType()))
    yield "functions"
    spark.sql("DROP SCHEMA functions CASCADE").collect()
    for name in ("plus_one", "shaken", "middle"):
        spark.sql(f"DROP TEMPORARY FUNCTION {name}").collect()


@pytest.mark.parametrize("call", KEPT)
def test_a_value_of_the_row_passes(spark: SparkSession, functions: str, call: str) -> None:
    check_functions(spark, sqlglot.parse_one(f"SELECT {call.format(s=functions)} AS x FROM p", read=SparkAsWritten))


@pytest.mark.parametrize("call", REFUSED)
def test_what_depends_on_more_is_refused(spark: SparkSession, functions: str, call: str) -> None:
    kind, message = REFUSED[call]
    with pytest.raises(kind, match=message) as raised:
        check_functions(spark, sqlglot.parse_one(f"SELECT {call.format(s=functions)} AS x FROM p", read=SparkAsWritten))
    assert raised.value.line == 1


def test_what_spark_refuses_is_an_error_of_the_definition(spark: SparkSession) -> None:
    with pytest.raises(DefinitionError, match="no_such_function") as raised:
        analyse(spark, "SELECT no_such_function(1) AS x")
    assert "\n" not in str(raised.value)
