"""Spark agrees: a query with the time written into it, and its plan's SQL at that instant, give the same rows."""

from __future__ import annotations

import datetime
import random
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import exp

from ivm_core.batch.clock import version_of
from ivm_core.batch.model import Batch, CommitClass, TableRange
from ivm_core.delta.clock import pin_clock
from ivm_core.delta.simplify import simplify
from ivm_core.delta.states import after
from ivm_core.engine.instants import fill, instants_of
from ivm_core.plan.clock import CLOCK, TYPES, clock_column
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.normalize import normalize
from ivm_core.plan.to_sql import to_sql
from tests.plan.queries import CLOCK as QUERIES
from tests.plan.queries import TABLES
from tests.plan.test_meaning import random_rows, rounded
from tests.plan.test_meaning_spark import comparable
from tests.sampling import one_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NOON = datetime.datetime(2024, 1, 4, 12, tzinfo=datetime.UTC)
BATCH = Batch("v", 1, (TableRange(CLOCK, "UTC", -1, version_of(NOON), CommitClass.REPLACED),), "")
# DuckDB knows these otherwise.
MORE = """
select a, unix_timestamp() as u, unix_timestamp(current_timestamp()) as v from t where d < localtimestamp()
select t.a, e.x from t lateral view explode(sequence(d, current_date() + 3)) e as x where a = 1 and d > date '2024-01-01'
select a, explode(sequence(current_date(), current_date() + 2)) as x from t
select a, last_day(current_date) as l, trunc(now(), 'MM') as m, date_format(current_timestamp(), 'yyyy') as y from t
select q.a, q.m from t, lateral (select u.a, current_date() as m from u where u.a = t.a) q
""".strip().splitlines()
SAMPLED = one_in(4, QUERIES)


@pytest.fixture(scope="module")
def database(spark: SparkSession) -> Iterator[None]:
    source = random.Random(1)
    spark.sql("CREATE SCHEMA IF NOT EXISTS shop").collect()
    for schema in TABLES.values():
        rows = random_rows(source, tuple(kind for _, kind in schema.columns))
        days = (NOON.date() + datetime.timedelta(days=source.randrange(-4, 5)) for _ in iter(int, 1))
        rows = [tuple(next(days) if isinstance(v, datetime.date) else v for v in row) for row in rows]
        columns = ", ".join(f"{name} {kind}" for name, kind in schema.columns)
        spark.createDataFrame(rows, columns).createOrReplaceTempView(schema.name.partition(".")[2])
    yield
    for schema in TABLES.values():
        spark.catalog.dropTempView(schema.name.partition(".")[2])
    spark.sql("DROP SCHEMA shop CASCADE").collect()


@pytest.mark.parametrize("sql", (*SAMPLED, *MORE))
def test_spark_gives_the_same_rows(spark: SparkSession, database: None, sql: str) -> None:
    plan = simplify(pin_clock(after(normalize(from_sql(sql, TABLES, "shop")), frozenset())))
    query = to_sql(plan, leaf_name=lambda leaf: leaf.table.partition(".")[2])
    result = spark.sql(fill(sqlglot.parse_one(query, read="spark"), instants_of(BATCH)).sql("spark"))
    expected = spark.sql(_told(sql))
    assert result.dtypes == expected.dtypes
    found, wanted = ([comparable(row) for row in frame.collect()] for frame in (result, expected))
    assert rounded(found) == rounded(wanted), query


def _told(sql: str) -> str:
    """The query with literals in place of the functions that tell the time."""

    def swap(node: exp.Expr) -> exp.Expr:
        read = clock_column(node)
        return (
            node if read is None else exp.cast(instants_of(BATCH)["clock_after"].copy(), TYPES[read], dialect="spark")
        )

    return sqlglot.parse_one(sql, read="spark").transform(swap).sql("spark")


@pytest.mark.parametrize("value", ["CAST('today' AS DATE)", "to_date('yesterday') + 1", "DATE 'tomorrow' - 1"])
def test_spark_has_words_for_the_time(spark: SparkSession, value: str) -> None:
    """Which is why they are refused."""
    assert spark.sql(f"SELECT {value} = current_date() AS same").collect() == [(True,)]
