"""A view is compared with its query at pinned versions; what differs is shown, counted and sampled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core.engine.compare import _sample, _scratch_location, compare
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import STATE_TABLE, Relation
from ivm_core.settings import Settings
from tests.engine import jobs
from tests.engine.test_execute import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ivm_core.validate.model import ValidationReport

pytestmark = pytest.mark.spark

VISIBLE = f"SELECT `item`, `amount` FROM `{STATE_TABLE}`"


def check(shop: Shop, spark: SparkSession, settings: Settings, at: int, measure_full: bool = False) -> ValidationReport:
    view = Relation("shop.v", shop.state, "id", shop.relation.columns, VISIBLE)
    return compare(
        spark, "shop.v", view, TableLog(shop.state).version(), jobs.FULL_BAG, VISIBLE, jobs.batch(1, -1, at),
        {jobs.SALES: shop.relation}, settings, measure_full=measure_full,
    )  # fmt: skip


def test_what_differs_can_be_written_as_json(spark: SparkSession) -> None:
    rows = spark.sql("SELECT map(DATE '2026-01-01', array(map(1.5BD, 'a'))) AS m, 1L AS __ivm_copies")
    (found,) = _sample(rows, 5)
    assert json.loads(json.dumps(found.row)) == {"m": {"2026-01-01": [{"1.5": "a"}]}}


def test_a_scratch_table_lies_below_the_warehouse_wherever_that_is() -> None:
    there = Settings.load(warehouse="s3a://bucket/lake/")
    assert _scratch_location(there, "gold.v").startswith("s3a://bucket/lake/scratch/gold.v-")


def test_compare(spark: SparkSession, warehouse: Path, spark_settings: Settings) -> None:
    shop = Shop(spark, warehouse, spark_settings)
    shop.apply(jobs.FULL_BAG)
    stood = shop.version()
    # The base table moves on: the view is judged by the versions that it stands at.
    shop.change("INSERT INTO {t} VALUES ('late', 99)")
    right = check(shop, spark, spark_settings, stood, measure_full=True)
    assert (right.ok, right.rows, right.missing_count, right.unexpected_count) == (True, 5, 0, 0)
    assert right.full_seconds is not None
    assert not any((Path(spark_settings.warehouse) / "scratch").glob("*"))

    spark.sql(f"UPDATE delta.`{shop.state}` SET item = 'z' WHERE item = 'a'").collect()
    wrong = check(shop, spark, spark_settings, stood)
    assert (wrong.ok, wrong.missing_count, wrong.unexpected_count) == (False, 3, 3)
    assert {(row.row["item"], str(row.row["amount"]), row.copies) for row in wrong.missing} == {
        ("a", "1.50", 2),
        ("a", "9.00", 1),
    }
    assert {row.row["item"] for row in wrong.unexpected} == {"z"}
    assert wrong.versions == {jobs.SALES: stood}
