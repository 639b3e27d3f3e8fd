"""Queries with as few answers of the session as they need: each is an analysis, over Spark Connect a round trip too.

A Connect client's ``spark.sql`` first asks whether the text is a command, and its ``toArrow`` for the schema; what is
known to be a query of plain types needs neither. A pyspark without these inner classes is asked in its public way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JError

from ivm_core.engine.failures import SPARK_FAILURES
from ivm_core.engine.handed_over import HANDED_OVER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Rows up to which a relation is part of the plans that read it: Spark then computes with them as it plans, without tasks.
# Of more, its rules take each row into their hands again and again: of 120,000 rows, a third of a driver's time.
IN_PLANS = 5_000


def select(spark: SparkSession, text: str, relations: Mapping[str, DataFrame] | None = None) -> DataFrame:
    """The result of a SELECT; over Connect, a mistake in it is found when its rows are read.

    ``relations``: frames that the text names and that go along with it, without temporary views.
    """
    session: Any = spark
    along: Mapping[str, Any] = relations or {}
    if is_connect(spark):
        try:
            from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
            from pyspark.sql.connect.plan import SQL, SubqueryAlias

            aliases = [SubqueryAlias(frame._plan, name) for name, frame in along.items()]
            lazy: Any = ConnectFrame(SQL(text, views=aliases), session)
            return lazy
        except (ImportError, TypeError, AttributeError):
            pass
    for name, frame in along.items():
        frame.createOrReplaceTempView(name)
    return spark.sql(text)


def fetch(frame: DataFrame) -> tuple[pa.Table, StructType]:
    """All rows, instants in UTC, and their Spark types."""
    from pyspark.sql.pandas.types import to_arrow_schema

    to_table = getattr(frame, "_to_table", None)
    if to_table is not None:
        rows, schema = to_table()
        if schema is not None:
            return rows.cast(to_arrow_schema(schema, timezone="UTC")), schema
    return frame.toArrow(), frame.schema


def try_fetch(frame: DataFrame) -> tuple[pa.Table, StructType] | None:
    """As ``fetch``; None where the rows are more bytes than Spark hands over (``spark.driver.maxResultSize``)."""
    try:
        return fetch(frame)
    except SPARK_FAILURES as error:
        if "maxResultSize" in str(error):
            return None
        raise


def fetch_few(frame: DataFrame, most: int) -> tuple[pa.Table, StructType] | None:
    """As ``try_fetch``; None also where there are more rows than ``most``."""
    found = try_fetch(frame.limit(most + 1))
    return found if found is not None and found[0].num_rows <= most else None


def types_of_rows(rows: pa.Table) -> StructType:
    """The Spark types of rows that came from Spark or from a Delta table."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(rows.schema.remove_metadata(), prefer_timestamp_ntz=True)


def frame_of(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """The rows as a DataFrame of the same types, whatever the session takes a timestamp without a zone for."""
    # Spark's own reader of Arrow (ArrowConverters, also a Connect server's) ends at a batch without rows, as filters leave.
    rows, types = rows.combine_chunks(), types_of_rows(rows)
    if rows.num_rows <= IN_PLANS or is_connect(spark):
        return spark.createDataFrame(rows, types)
    handed_over = HANDED_OVER.frame(spark, rows, types) if tasks_run_here(spark) else None
    return handed_over if handed_over is not None else _beside_plans(spark, spark.createDataFrame(rows, types))


def _beside_plans(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The frame's rows as a distributed collection that Spark knows the size of, as its checkpoints do."""
    session: Any = spark
    known: Any = frame
    try:
        from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

        sql = session._jvm.org.apache.spark.sql
        collection = getattr(getattr(sql.execution, "LogicalRDD$"), "MODULE$")
        plan = collection.fromDataset(known._jdf.queryExecution().toRdd(), known._jdf, False)
        return ClassicFrame(sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)
    except (ImportError, TypeError, AttributeError, Py4JError):
        return frame


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def tasks_run_here(spark: SparkSession) -> bool:
    """Whether the session is of this process, and its tasks run on this machine."""
    context: Any = None if is_connect(spark) else spark.sparkContext
    return context is not None and str(context.master).startswith("local")
