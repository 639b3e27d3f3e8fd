"""Few changes are read without Spark where that gives the same rows, and left to it everywhere else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.engine import feed_files
from ivm_core.engine.changes import ChangeCache, net
from ivm_core.engine.feed_files import feed_frame, read_feed
from ivm_core.engine.model import Relation
from ivm_core.engine.tables import analyse
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
COLUMNS = (
    "k INT, big BIGINT, small SMALLINT, tiny TINYINT, flag BOOLEAN, name STRING, raw BINARY, day DATE, at TIMESTAMP, "
    "price DECIMAL(20, 3), near FLOAT, far DOUBLE"
)
ROW = (
    "{k}, 9007199254740993, NULL, -1Y, TRUE, 'é''\U0001f600', X'00ff', DATE'0001-01-01', "
    "TIMESTAMP'2026-03-29 02:30:00.123456', -12345678901234567.125, FLOAT('NaN'), -0.0D"
)
STATEMENTS = (
    f"INSERT INTO {{t}} VALUES ({ROW.format(k=1)}), ({ROW.format(k=2)}), ({ROW.format(k=2)})",
    "INSERT INTO {t} (k, day) VALUES (3, DATE'1500-02-28'), (NULL, NULL)",
    "OPTIMIZE {t}",
    "UPDATE {t} SET name = 'other', far = 0.0D WHERE k = 2",
    "DELETE FROM {t} WHERE k IS NULL",
    "MERGE INTO {t} USING (SELECT 1 AS id UNION ALL SELECT 9) s ON k = id "
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k) VALUES (id)",
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')",
    "UPDATE {t} SET name = 'unseen' WHERE k = 3",
    "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
    "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE k < 9",
    "RESTORE TABLE {t} TO VERSION AS OF 4",
    "TRUNCATE TABLE {t}",
)


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(spark, str(tmp_path_factory.mktemp("feeds") / "a table"), COLUMNS, FEED, *STATEMENTS)


def made(spark: SparkSession, path: str, columns: str, properties: str, *statements: str) -> str:
    spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING DELTA {properties}").collect()
    for statement in statements:
        spark.sql(statement.format(t=f"delta.`{path}`")).collect()
    return path


def relation(spark: SparkSession, path: str) -> Relation:
    return Relation("t", path, "id", analyse(spark, f"SELECT * FROM delta.`{path}`"))


def covered(start: int, end: int, kind: CommitClass = CommitClass.MUTATING) -> TableRange:
    return TableRange("t", "id", start, end, kind)


def counted(frame: Any) -> Counter[str]:
    return Counter(map(str, frame.collect()))


@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
@pytest.mark.parametrize(
    ("start", "end"), [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6), (5, 9), (6, 10), (9, 11), (2, 12), (0, 12)]
)
def test_the_same_rows_as_from_the_versions_themselves(
    spark: SparkSession,
    spark_settings: Settings,
    table: str,
    monkeypatch: pytest.MonkeyPatch,
    start: int,
    end: int,
    many: bool,
) -> None:
    read = relation(spark, table)
    off_in_between = start < 8 <= end
    names = [name for name, _ in read.columns]
    assert (read_feed(read, covered(start, end), frozenset(names)) is None) == off_in_between
    if many:
        assert (feed_frame(spark, read, covered(start, end)) is None) == off_in_between
        monkeypatch.setattr("ivm_core.engine.changes.HERE", 0)
        monkeypatch.setattr("ivm_core.engine.changes.NOT_LOOKED_UP", -1)
    with ChangeCache(spark, spark_settings) as cache:
        kind = CommitClass.INSERT_ONLY if end <= 3 else CommitClass.MUTATING
        changes = cache.read(read, covered(start, end, kind), names)
        versions = cache._compared(read, covered(start, end), frozenset(names), few=False).frame
        assert counted(net(changes.frame, read, names)) == counted(versions)
        assert changes.frame.schema.simpleString() == versions.schema.simpleString()


@pytest.mark.parametrize(
    ("columns", "properties", "change"),
    [
        ("k INT, v INT", "", ()),
        ("k INT, v INT", "PARTITIONED BY (v) " + FEED, ()),
        ("k INT, v TIMESTAMP_NTZ", FEED, ()),
        ("k INT, v CHAR(3)", FEED, ()),
        ("k INT, v STRUCT<a: INT>", FEED, ()),
        ("k INT, v INT", FEED, ("ALTER TABLE {t} ADD COLUMN w INT",)),
        ("k INT, v INT", FEED[:-1] + ", 'delta.enableDeletionVectors' = 'true')", ()),
        ("k INT, v INT", FEED[:-1] + ", 'delta.columnMapping.mode' = 'name')", ()),
    ],
    ids=["no feed", "partitions", "type", "char", "nested", "schema changed", "deletion vectors", "column mapping"],
)
def test_other_tables_are_left_to_spark(
    spark: SparkSession, tmp_path: Any, columns: str, properties: str, change: tuple[str, ...]
) -> None:
    statements = ("INSERT INTO {t} (k) VALUES (1)", *change, "INSERT INTO {t} (k) VALUES (2)")
    path = made(spark, str(tmp_path / "t"), columns, properties, *statements)
    read, span = relation(spark, path), covered(1, 1 + len(statements) - 1)
    assert read_feed(read, span, frozenset("k")) is None
    # Types that Arrow has no plain one for are no hindrance to Spark.
    assert (feed_frame(spark, read, span) is None) != (columns in ("k INT, v TIMESTAMP_NTZ", "k INT, v STRUCT<a: INT>"))


def test_a_file_that_went_twice_counts_twice(spark: SparkSession, spark_settings: Settings, tmp_path: Any) -> None:
    statements = (
        "INSERT INTO {t} VALUES (1), (2)",
        "INSERT INTO {t} VALUES (3)",
        "TRUNCATE TABLE {t}",
        "RESTORE TABLE {t} TO VERSION AS OF 2",
        "TRUNCATE TABLE {t}",
    )
    read, span = relation(spark, made(spark, str(tmp_path / "t"), "k INT", FEED, *statements)), covered(1, 5)
    rows = read_feed(read, span, frozenset("k"))
    assert rows is not None and Counter(rows.column(feed_files.CHANGE_TYPE).to_pylist()) == {"delete": 6, "insert": 4}
    assert feed_frame(spark, read, span) is None
    with ChangeCache(spark, spark_settings) as cache:
        frame = cache._weighted(read, span, frozenset("k"), cache._feed(read, span))
        assert counted(net(frame, read, "k")) == counted(cache.read(read, span, "k").frame)


def test_more_rows_than_expected_are_left_to_spark(
    spark: SparkSession, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_files, "HERE", 2)
    assert read_feed(relation(spark, table), covered(0, 1), frozenset("k")) is None


def test_only_the_columns_asked_for_are_read(
    spark: SparkSession, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "INSERT INTO {t} SELECT 1, repeat('x', 100000)"
    path = made(spark, str(tmp_path / "t"), "k INT, aLongText STRING", FEED, long, long)
    rows = read_feed(relation(spark, path), covered(0, 2), frozenset("k"))
    assert rows is not None and rows.column_names == ["k", feed_files.CHANGE_TYPE]
    whole = frozenset(["k", "alongtext"])
    assert read_feed(relation(spark, path), covered(0, 2), whole).num_rows == 2
    monkeypatch.setattr(feed_files, "MOST_BYTES", 150_000)
    assert read_feed(relation(spark, path), covered(0, 2), whole) is None


def test_missing_files_are_left_to_spark_that_tells_of_them(spark: SparkSession, tmp_path: Any) -> None:
    path = made(spark, str(tmp_path / "t"), "k INT", FEED, "INSERT INTO {t} VALUES (1)", "UPDATE {t} SET k = 2")
    for file in (tmp_path / "t" / "_change_data").rglob("*.parquet"):
        file.unlink()
    read = relation(spark, path)
    for span in (covered(1, 2), covered(1, 7)):
        assert read_feed(read, span, frozenset("k")) is None
        assert feed_frame(spark, read, span) is None
