"""`ivm doctor` tells by which columns batches look for rows of large tables, and what they find them in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core import Engine
from ivm_core.maintain import layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
FILES = 4


@pytest.fixture
def engine(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """A table of four files in order of ``id``, and one in no order, each joined by ``id`` and by ``k``."""
    monkeypatch.setattr(layout, "LARGE", 100)
    for schema in ("ordered", "mixed"):
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}").collect()
        spark.sql(f"CREATE TABLE {schema}.big (id INT, k INT) USING DELTA {FEED}").collect()
    spark.sql(f"CREATE TABLE ordered.few (id INT, k INT, name STRING) USING DELTA {FEED}").collect()
    for number in range(FILES):
        for schema, value in (("ordered", f"id + {number * 100}"), ("mixed", f"id * {FILES} + {number}")):
            spark.sql(
                f"INSERT INTO {schema}.big SELECT /*+ COALESCE(1) */ CAST({value} AS INT), CAST(id AS INT) FROM range(100)"
            ).collect()
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        yield opened
    for table in ("ordered.big", "ordered.few", "mixed.big"):
        spark.sql(f"DROP TABLE {table}").collect()


def create(engine: Engine, name: str, table: str, key: str) -> None:
    engine.create(
        f"CREATE INCREMENTAL MATERIALIZED VIEW v.{name} AS "
        f"SELECT b.id, b.k, f.name FROM {table} b JOIN ordered.few f ON b.{key} = f.{key}"
    )


def found(engine: Engine, table: str) -> layout.Check:
    (check,) = (check for check in engine.doctor() if check.name == f"layout {table}")
    return check


def test_a_table_in_order_of_what_is_looked_for_is_left_as_it_is(engine: Engine) -> None:
    create(engine, "by_id", "ordered.big", "id")
    check = found(engine, "ordered.big")
    assert check.ok and check.detail == "of 4 files one value is in about so many: id (1 view, in 1)"
    assert check.advice == ""
    create(engine, "by_k", "ordered.big", "k")
    create(engine, "by_k_too", "ordered.big", "k")
    check = found(engine, "ordered.big")
    assert check.detail.endswith("k (2 views, in 4), id (1 view, in 1)") and check.advice == ""


def test_a_table_in_no_order_is_to_be_clustered_by_what_most_views_look_for(
    engine: Engine, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(engine, "one", "mixed.big", "k")
    create(engine, "two", "mixed.big", "id")
    create(engine, "three", "mixed.big", "id")
    monkeypatch.setattr(layout, "SMALLEST", 1000)
    check = found(engine, "mixed.big")
    assert check.ok and check.detail.endswith("id (2 views, in 4), k (1 view, in 4)")
    told = check.advice.partition(":")[0].split(", then ")
    assert told[1:] == ["ALTER TABLE mixed.big CLUSTER BY (id)", "OPTIMIZE mixed.big FULL"]
    assert all(check.name != "layout ordered.few" for check in engine.doctor())  # small

    try:
        for statement in told:
            spark.sql(statement).collect()
    finally:
        spark.conf.unset(layout.FILE_SIZE)
    check = found(engine, "mixed.big")
    assert "id (2 views, in 1)" in check.detail and check.advice == ""  # it was done


def test_a_view_that_looks_for_nothing_asks_for_no_layout(engine: Engine) -> None:
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW v.sums AS SELECT k, count(*) AS n FROM mixed.big GROUP BY k")
    assert not any(check.name.startswith("layout") for check in engine.doctor())
