"""What this process cannot hold or read is left to Spark, and what Spark then does is no other writer's."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from ivm_core import Engine
from ivm_core.engine import queries as fetching
from ivm_core.engine import slices, snapshots
from ivm_core.engine.direct import DirectState
from tests.maintain.database import FEED, check_views, create_views, run, set_limits
from tests.sampling import one_in

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


def test_texts_of_more_than_arrow_holds(engine: Engine, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise pa.ArrowCapacityError("array cannot contain more than 2147483646 bytes")

    change(engine, schema, 1)
    monkeypatch.setattr(DirectState, "replace", refused)
    assert set(strategies(engine, schema).values()) <= {"incremental", "affected"}


@pytest.mark.slow
def test_rows_of_more_bytes_than_spark_hands_over(engine: Engine, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise PySparkException("Total size of serialized results is bigger than spark.driver.maxResultSize")

    change(engine, schema, 1)
    monkeypatch.setattr(fetching, "fetch", refused)
    assert set(strategies(engine, schema).values()) <= {"incremental", "affected"}


@pytest.mark.parametrize("name", one_in(3, ["bag", "groups", "affected"]))
def test_a_state_with_a_missing_file_is_built_anew(engine: Engine, schema: str, name: str) -> None:
    location = Path(engine.catalog.view(f"{schema}.{name}").location)
    for file in location.glob("*.parquet"):
        shutil.move(file, file.with_suffix(".gone"))
    change(engine, schema, 1)
    assert strategies(engine, schema)[name] == "full"
    change(engine, schema, 2)
    assert strategies(engine, schema)[name] in ("incremental", "affected")


@pytest.mark.slow
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


def test_a_converted_table_whose_files_spell_columns_otherwise(
    spark: SparkSession, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CONVERT TO DELTA leaves the files as they were; Arrow takes a column of another case for missing."""
    monkeypatch.setattr(snapshots, "IN_MEMORY", -1)
    monkeypatch.setattr(slices, "LARGE", 0)
    rows = [(1, "a", 10), (2, "a", 20), (3, "b", 30)]
    spark.createDataFrame(rows, "userId INT, G STRING, v INT").write.parquet(str(tmp_path / "files"))
    run(
        spark,
        f"CREATE TABLE {schema}.converted (userid INT, g STRING, v INT) USING PARQUET LOCATION '{tmp_path}/files'",
        f"CONVERT TO DELTA {schema}.converted",
        f"ALTER TABLE {schema}.converted SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        f"CREATE TABLE {schema}.others (userid INT, name STRING) USING DELTA {FEED}",
    )
    texts = {
        "sums": f"SELECT g, count(*) AS n, sum(userid) AS s FROM {schema}.converted GROUP BY g",
        "rows_of_it": f"SELECT userid, v FROM {schema}.converted",
        "joined": f"SELECT name, g FROM {schema}.others AS o JOIN {schema}.converted AS c ON c.userid = o.userid",
    }
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        create_views(engine, schema, texts)
        run(spark, f"INSERT INTO {schema}.others VALUES (1, 'one'), (3, 'three'), (9, 'nine')")
        assert {str(report.strategy) for report in engine.maintain()} == {"incremental", "noop"}
        check_views(engine, schema, texts)
        run(spark, f"INSERT OVERWRITE {schema}.converted VALUES (5, 'a', 1), (9, 'b', 1)")
        assert {str(report.strategy) for report in engine.maintain()} == {"incremental"}
        check_views(engine, schema, texts)


def test_days_that_python_has_not(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.days (id INT, d DATE) USING DELTA {FEED}",
        f"INSERT INTO {schema}.days VALUES (1, DATE'+10000-01-01'), (2, DATE'-0043-03-15'), (3, DATE'2024-01-01')",
    )
    texts = {
        "bag": f"SELECT id, d FROM {schema}.days WHERE id > 0",
        "groups": f"SELECT d, count(*) AS n FROM {schema}.days GROUP BY d",
    }
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        create_views(engine, schema, texts)
        run(
            spark,
            f"INSERT INTO {schema}.days VALUES (4, DATE'+10000-01-01')",
            f"UPDATE {schema}.days SET id = 5 WHERE id = 2",
        )
        assert {str(report.strategy) for report in engine.maintain()} == {"incremental"}
        for name, text in texts.items():
            shown = (
                frame.selectExpr("* EXCEPT (d)", "CAST(d AS STRING)")
                for frame in (engine.read(f"{schema}.{name}"), spark.sql(text))
            )
            found, expected = (sorted(map(tuple, frame.collect())) for frame in shown)
            assert found == expected


def test_nobody_elses_writes_carry_the_tag_of_a_merge(engine: Engine, schema: str) -> None:
    """Delta gives what is set in a session to each of its writes, and takes the second one for done already."""
    set_limits(engine, replace_rows=0)
    run(engine.spark, f"CREATE TABLE {schema}.events (n INT) USING DELTA")
    change(engine, schema, 1)
    written, done = 0, threading.Event()

    def write() -> None:
        nonlocal written
        while not done.is_set() or written < 3:
            engine.spark.range(1).selectExpr("CAST(id AS INT) AS n").write.mode("append").saveAsTable(
                f"{schema}.events"
            )
            written += 1

    user = threading.Thread(target=write)
    user.start()
    assert set(strategies(engine, schema).values()) <= {"incremental", "affected"}
    done.set()
    user.join()
    assert engine.spark.table(f"{schema}.events").count() == written
    log = Path(engine.spark.sql(f"DESCRIBE DETAIL {schema}.events").collect()[0].location.removeprefix("file:"))
    assert not any('"txn"' in file.read_text() for file in log.glob("_delta_log/*.json"))
