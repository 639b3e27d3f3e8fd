"""Tables and views by name: resolved, registered, shown and removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core.engine import tables
from ivm_core.engine.model import STATE_TABLE
from ivm_core.errors import BaseTableError, UnknownTableError
from ivm_core.plan.definition_table import parse_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_describe(spark: SparkSession, schema: str) -> None:
    spark.sql(
        f"CREATE TABLE {schema}.`Odd_Name` (`a b` INT, c DECIMAL(5,2), d ARRAY<STRUCT<x: INT>>) USING DELTA "
        "TBLPROPERTIES ('ivm.primary_key' = 'c', 'delta.columnMapping.mode' = 'name')"
    ).collect()
    info = tables.describe_table(spark, f"{schema}.odd_name")
    assert info.columns == (("a b", "int"), ("c", "decimal(5,2)"), ("d", "array<struct<x:int>>"))
    assert dict(info.properties)["ivm.primary_key"] == "c"
    assert Path(info.location).is_dir()


def test_what_cannot_be_a_base_table(spark: SparkSession, schema: str) -> None:
    with pytest.raises(UnknownTableError, match="no table"):
        tables.describe_table(spark, f"{schema}.none")
    spark.sql(f"CREATE TABLE {schema}.p (k INT) USING PARQUET").collect()
    with pytest.raises(BaseTableError, match="parquet"):
        tables.describe_table(spark, f"{schema}.p")
    spark.sql(f"CREATE VIEW {schema}.v AS SELECT 1 AS k").collect()
    with pytest.raises(BaseTableError, match="Delta"):
        tables.describe_table(spark, f"{schema}.v")


def test_register_a_place_under_a_name(spark: SparkSession, schema: str, warehouse: Path) -> None:
    path = str(warehouse / "it's 100%25")
    spark.range(3).write.format("delta").save(path)
    for _ in range(2):
        tables.register_table(spark, f"{schema}.t", path)
    assert spark.table(f"{schema}.t").count() == 3
    assert tables.describe_table(spark, f"{schema}.t").location == path


def test_create_a_projects_table(spark: SparkSession, schema: str, warehouse: Path) -> None:
    definition = parse_table(
        f"CREATE TABLE {schema}.lines (k BIGINT NOT NULL COMMENT 'the key', price DECIMAL(15, 2)) USING DELTA "
        "CLUSTER BY (k) COMMENT 'Lines' TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'ivm.primary_key' = 'k')"
    )
    tables.create_table(spark, definition, str(warehouse / "lines"))
    info = tables.describe_table(spark, f"{schema}.lines")
    assert info.location == str(warehouse / "lines")
    assert info.columns == (("k", "bigint"), ("price", "decimal(15,2)"))
    assert dict(info.properties)["delta.enableChangeDataFeed"] == "true"
    detail = spark.sql(f"DESCRIBE DETAIL {schema}.lines").collect()[0]
    assert detail["clusteringColumns"] == ["k"]


def test_a_view_shows_its_state_until_it_is_dropped(spark: SparkSession, schema: str, warehouse: Path) -> None:
    state = str(warehouse / "state")
    spark.range(4).selectExpr("id AS k", "id AS __ivm_count").write.format("delta").save(state)
    select = f"SELECT `k` AS `Key` FROM `{STATE_TABLE}` WHERE `__ivm_count` > 1"
    for _ in range(2):
        tables.register_view(spark, f"{schema}.v", state, select, "what it's for")
    frame = spark.table(f"{schema}.v")
    assert (frame.columns, frame.count()) == (["Key"], 2)
    tables.drop_state(spark, f"{schema}.v", state)
    assert not tables.table_exists(spark, f"{schema}.v")
    assert not Path(state).exists()
    tables.drop_state(spark, f"{schema}.v", state)
