"""A small TPC-H database that one batch of each kind has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import tpch_data
from bench.deployment import Place
from bench.refresh_functions import Stream
from ivm_core.engine.log import TableLog
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCALE = 0.01
PERCENT = 2.0
STEPS = ("loaded", "inserted", "deleted", "updated")


@dataclass(frozen=True)
class Database:
    """The tables after each of ``STEPS``, by their versions then; ``rows``: what each function said that it changed."""

    spark: SparkSession
    stream: Stream
    versions: dict[str, dict[str, int]]
    rows: dict[str, dict[str, int]]

    def at(self, step: str, table: str) -> DataFrame:
        """The table as it was after a step."""
        version = self.versions[step][table]
        return self.spark.read.option("versionAsOf", version).table(f"tpch.{table}")


@pytest.fixture(scope="session")
def tpch_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated Parquet files."""
    return tpch_data.generate(SCALE, tmp_path_factory.mktemp("tpch"))


@pytest.fixture(scope="module")
def database(spark: SparkSession, spark_settings: Settings, tpch_folder: Path) -> Iterator[Database]:
    """Loaded, then RF1, RF2 and RF3 once each. Not for longer than a module: benchmarks make the same schema."""
    tpch_data.create_tables(spark)
    tpch_data.load(spark, tpch_folder)
    stream = Stream(SCALE, tpch_folder, PERCENT, seed=7)
    versions = {"loaded": _versions(spark)}
    rows = {}
    for step, function in zip(STEPS[1:], (stream.insert_orders, stream.delete_orders, stream.update_rows), strict=True):
        rows[step] = function(spark, 2)
        versions[step] = _versions(spark)
    yield Database(spark, stream, versions, rows)
    spark.sql("DROP SCHEMA tpch CASCADE").collect()


@pytest.fixture
def place(spark: SparkSession, tmp_path: Path) -> Place:
    """Where a benchmark of the tests works, in their session."""
    return Place(tmp_path / "bench", spark=spark, data=tmp_path / "data")


def _versions(spark: SparkSession) -> dict[str, int]:
    places = {table: spark.sql(f"DESCRIBE DETAIL tpch.{table}").collect()[0]["location"] for table in tpch_data.TABLES}
    return {table: TableLog(place).version() for table, place in places.items()}
