"""Upkeep of a view's state: fewer files and a checkpoint, never another row, and views above it do not notice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core import Engine
from ivm_core.engine.log import TableLog
from ivm_core.engine.upkeep import commits_since_checkpoint
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VIEWS = {
    "lines": "SELECT id, amount FROM {s}.t WHERE amount > 0",  # appends a file a batch
    "doubles": "SELECT id, CAST(amount AS DOUBLE) / 3 AS third FROM {s}.t",  # a state that is left to Spark
    "totals": "SELECT amount, count(*) AS n FROM {s}.lines GROUP BY amount",  # reads the first one's changes
}


@pytest.fixture
def engine(spark: SparkSession, schema: str, tmp_path: Path) -> Iterator[Engine]:
    spark.sql(f"CREATE TABLE {schema}.t (id INT, amount INT) USING DELTA {FEED}").collect()
    settings = Settings.load(
        catalog=f"sqlite:///{tmp_path}/catalog.db",
        warehouse=str(tmp_path / "warehouse"),
        limits={"small_files": 3, "commits_between_checkpoints": 5},
    )
    with Engine.open(spark=spark, settings=settings) as opened:
        for name, query in VIEWS.items():
            policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"  # a refresh in full leaves one file
            opened.create(f"CREATE MATERIALIZED VIEW {schema}.{name} {policy} AS {query.format(s=schema)}")
        yield opened


FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


def test_batches_leave_few_files_and_a_checkpoint(engine: Engine, schema: str) -> None:
    files: dict[str, list[int]] = {"lines": [], "doubles": []}
    for number in range(9):
        engine.spark.sql(f"INSERT INTO {schema}.t VALUES ({number}, {number % 3})").collect()
        engine.maintain()
        for name, counts in files.items():
            counts.append(TableLog(engine.catalog.view(f"{schema}.{name}").location).size().files)
    for name, counts in files.items():
        assert max(counts) > 3 and counts[-1] < max(counts), (name, counts)
    location = engine.catalog.view(f"{schema}.lines").location
    commits = commits_since_checkpoint(location)
    assert commits is not None and commits < 9
    for name in VIEWS:
        report = engine.validate(f"{schema}.{name}")
        assert report.ok and report.rows > 0
    # The batches after it went on incrementally: a compaction is nobody's change.
    for name in VIEWS:
        history = engine.catalog.history(f"{schema}.{name}", 20)
        assert {str(batch.reason) for batch in history} <= {"linear", "first_build", "affected_keys"}, name


def test_nothing_to_do_changes_nothing(engine: Engine, schema: str) -> None:
    location = engine.catalog.view(f"{schema}.lines").location
    before = TableLog(location).version()
    for _ in range(3):
        engine.maintain()
    assert TableLog(location).version() == before
