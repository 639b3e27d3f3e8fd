"""What this process cannot hold or read is left to Spark, and what Spark then does is no other writer's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from ivm_core import Engine
from ivm_core.engine import queries as fetching
from tests.maintain.database import FEED, check_views, create_views, run, set_limits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VIEWS = {
    "bag": "SELECT id, v FROM {s}.t WHERE v > 1",
    "groups": "SELECT g, count(*) AS n, sum(v) AS total FROM {s}.t GROUP BY g",
    "extremes": "SELECT g, max(v) AS most FROM {s}.t GROUP BY g",
    "affected": "SELECT g, count(DISTINCT v) AS n FROM {s}.t GROUP BY g",
    "pairs": "SELECT t.id, n.name FROM {s}.t LEFT JOIN {s}.names n ON n.g = t.g",
}


def queries(schema: str) -> dict[str, str]:
    return {name: query.format(s=schema) for name, query in VIEWS.items()}


@pytest.fixture
def engine(spark: SparkSession, schema: str, tmp_path: Path) -> Iterator[Engine]:
    run(
        spark,
        f"CREATE TABLE {schema}.t (id INT, g STRING, v INT) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.names (g STRING, name STRING) USING DELTA {FEED}",
        f"INSERT INTO {schema}.t VALUES (1, 'a', 1), (2, 'a', 5), (3, 'b', 2), (4, NULL, 7)",
        f"INSERT INTO {schema}.names VALUES ('a', 'one'), ('a', 'two')",
    )
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as opened:
        create_views(opened, schema, queries(schema))
        yield opened


def change(engine: Engine, schema: str, number: int) -> None:
    run(
        engine.spark,
        f"INSERT INTO {schema}.t VALUES ({10 * number}, 'c', {number}), ({10 * number + 1}, 'a', {number})",
        f"UPDATE {schema}.t SET v = v + 1 WHERE id % 3 = {number % 3}",
        f"DELETE FROM {schema}.t WHERE id = {number + 1}",
    )


def strategies(engine: Engine, schema: str) -> dict[str, str]:
    """Maintain all views; each equals its query after it."""
    found = {report.view.rpartition(".")[2]: str(report.strategy) for report in engine.maintain()}
    check_views(engine, schema, queries(schema))
    return found


def test_rows_of_more_bytes_than_spark_hands_over(engine: Engine, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise PySparkException("Total size of serialized results is bigger than spark.driver.maxResultSize")

    change(engine, schema, 1)
    monkeypatch.setattr(fetching, "fetch", refused)
    assert set(strategies(engine, schema).values()) <= {"incremental", "affected"}


@pytest.mark.parametrize("name", ["bag", "groups", "affected"])
def test_a_state_with_a_missing_file_is_built_anew(engine: Engine, schema: str, name: str) -> None:
    location = Path(engine.catalog.view(f"{schema}.{name}").location)
    for file in location.glob("*.parquet"):
        shutil.move(file, file.with_suffix(".gone"))
    change(engine, schema, 1)
    assert strategies(engine, schema)[name] == "full"
    change(engine, schema, 2)
    assert strategies(engine, schema)[name] in ("incremental", "affected")


def test_a_compaction_by_spark_is_not_taken_for_the_batch(engine: Engine, schema: str) -> None:
    set_limits(engine, replace_rows=0)  # each state is merged into
    conf = {"enabled": "true", "minNumFiles": "2"}
    for key, value in conf.items():
        engine.spark.conf.set(f"spark.databricks.delta.autoCompact.{key}", value)
    try:
        for number in (1, 2):
            change(engine, schema, number)
            assert set(strategies(engine, schema).values()) <= {"incremental", "affected"}
    finally:
        for key in conf:
            engine.spark.conf.unset(f"spark.databricks.delta.autoCompact.{key}")
