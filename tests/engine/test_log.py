"""Facts from logs of tables that Spark wrote, read without a JVM, are the facts that Spark itself tells."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ivm_core.batch.classify import range_class
from ivm_core.batch.model import CommitClass
from ivm_core.engine.location import normalize_location
from ivm_core.engine.log import TableLog, parse_interval
from ivm_core.engine.log_by_spark import SparkLog
from ivm_core.engine.log_entries import read_entries
from ivm_core.errors import BaseTableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = timedelta(hours=1)
START = datetime(2026, 3, 1, tzinfo=UTC)


def write_log(folder: Path, hours: list[float], operations: list[str] | None = None, **properties: str) -> str:
    """A table without data whose commits happened at the given hours after ``START``."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for version, hour in enumerate(hours):
        millis = int((START + hour * HOUR).timestamp() * 1000)
        operation = operations[version] if operations else "WRITE"
        actions: list[dict[str, Any]] = [
            {"commitInfo": {"timestamp": millis, "operation": operation, "operationParameters": {"mode": "Append"}}}
        ]
        if version == 0:
            schema = json.dumps(
                {"type": "struct", "fields": [{"name": "k", "type": "long", "nullable": True, "metadata": {}}]}
            )
            actions += [
                {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
                {
                    "metaData": {
                        "id": "id-1",
                        "format": {"provider": "parquet", "options": {}},
                        "schemaString": schema,
                        "partitionColumns": [],
                        "configuration": properties,
                        "createdTime": millis,
                    }
                },
            ]
        (log / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return str(folder)


@pytest.mark.parametrize(
    ("hours", "asked", "expected"),
    [
        ([0, 1, 2], 1.5, 1),
        ([0, 1, 2], 1, 1),
        ([0, 1, 2], 9, 2),
        ([1, 2], 0.5, None),
        # A writer whose clock was ahead: the commit after it counts as no earlier.
        ([0, 5, 2, 6], 3, 0),
        ([0, 5, 2, 6], 5, 2),
        ([float(n) for n in range(200)], 20.5, 20),
        ([float(n) for n in range(200)], 190.5, 190),
    ],
)
def test_version_as_of(tmp_path: Path, hours: list[float], asked: float, expected: int | None) -> None:
    log = TableLog(write_log(tmp_path / "t", hours))
    assert log.version_as_of(START + asked * HOUR) == expected


def test_newest_version(tmp_path: Path) -> None:
    assert TableLog(write_log(tmp_path / "t", [0, 1])).version_as_of(None) == 1


def test_commits_of_a_range(tmp_path: Path) -> None:
    log = TableLog(write_log(tmp_path / "t", [0, 1, 2, 3], ["CREATE TABLE", "WRITE", "OPTIMIZE", "DELETE"]))
    assert [(c.version, c.operation) for c in log.commits(1, 3)] == [(2, "OPTIMIZE"), (3, "DELETE")]
    assert log.commits(3, 3) == ()
    assert log.commits(0, 1)[0].timestamp == START + HOUR


def test_earliest_readable_version_is_within_the_retention(tmp_path: Path) -> None:
    retention = {"delta.deletedFileRetentionDuration": "interval 2 days"}
    log = TableLog(write_log(tmp_path / "t", [0, 24, 48, 72], **retention))
    assert log.retention() == timedelta(days=2)
    assert log.earliest_readable(START + 73 * HOUR) == 1  # whose files were left at hour 48
    assert log.earliest_readable(START + 47 * HOUR) == 0
    assert log.earliest_readable(START + 1000 * HOUR) == 3


@pytest.mark.parametrize("now", [47, 73, 1000])
def test_a_version_is_readable_from_the_earliest_on(tmp_path: Path, now: float) -> None:
    retention = {"delta.deletedFileRetentionDuration": "interval 2 days"}
    location, instant = write_log(tmp_path / "t", [0, 24, 48, 72], **retention), START + now * HOUR
    earliest = TableLog(location).earliest_readable(instant)
    assert [TableLog(location).is_readable(version, instant) for version in range(6)] == [
        version >= earliest for version in range(6)
    ]


def test_versions_before_a_commit_that_is_gone_are_not_readable(tmp_path: Path) -> None:
    log = TableLog(write_log(tmp_path / "t", [0, 1, 2, 3, 4]))
    instant = START + 5 * HOUR
    log.version()
    (tmp_path / "t" / "_delta_log" / f"{2:020}.json").unlink()
    assert [log.is_readable(version, instant) for version in range(5)] == [False, False, False, True, True]
    assert log.earliest_readable(instant) == 3


def test_of_a_long_log_only_the_commits_since_a_version_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a table with hundreds of commits within its retention, a batch over the last ones must not read them all."""
    log = TableLog(write_log(tmp_path / "t", [n / 100 for n in range(300)]))
    asked = []
    monkeypatch.setattr(
        "ivm_core.engine.log.read_entries",
        lambda table, newest, limit: asked.append(limit) or read_entries(table, newest, limit),
    )
    assert log.is_readable(297, START + 5 * HOUR)
    assert asked == [3]


def test_a_field_that_came_in_place_of_another_is_told(tmp_path: Path) -> None:
    def struct(stored: str) -> dict[str, Any]:
        ids = count(1)

        def field(name: str, type_: Any, stored: str) -> dict[str, Any]:
            mapped = {"delta.columnMapping.id": next(ids), "delta.columnMapping.physicalName": stored}
            return {"name": name, "type": type_, "nullable": True, "metadata": mapped}

        inner = {"type": "struct", "fields": [field("q", "long", "q"), field("p", "long", stored)]}
        listed = {"type": "array", "elementType": inner, "containsNull": True}
        return {"type": "struct", "fields": [field("St", listed, "col-1"), field("k", "long", "k")]}

    location = write_log(tmp_path / "t", [0, 1], **{"delta.columnMapping.mode": "name"})
    for version, stored in enumerate(("p", "col-2")):
        file = Path(location) / "_delta_log" / f"{version:020}.json"
        actions = [json.loads(line) for line in (tmp_path / "t/_delta_log" / f"{0:020}.json").read_text().splitlines()]
        actions[1] = {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}
        actions[2]["metaData"]["schemaString"] = json.dumps(struct(stored))
        file.write_text("\n".join(map(json.dumps, actions)))
    before, after = (TableLog(location).stored_names(version) for version in (0, 1))
    assert before["k"] == after["k"] == "k"
    assert before["st"] != after["st"] and before["st"].startswith("col-1")


@pytest.mark.parametrize("newest", [0, 1, 4, 5, 20, 21, 22, 70, 71, 72, 200])
@pytest.mark.parametrize("at_first", [1, 32])
def test_each_commit_comes_once_newest_first(tmp_path: Path, newest: int, at_first: int) -> None:
    log = TableLog(write_log(tmp_path / "t", [float(n) for n in range(newest + 1)]))
    assert [commit.version for commit in log.newest_first(at_first)] == [*range(newest, -1, -1)]


def test_none_is_left_out_where_more_are_read_meanwhile(tmp_path: Path) -> None:
    log = TableLog(write_log(tmp_path / "t", [float(n) for n in range(30)]))
    seen = []
    for commit in log.newest_first(1):
        log.commits(19, 29)
        seen.append(commit.version)
    assert seen == [*range(29, -1, -1)]


@pytest.mark.parametrize(("wanted", "read"), [(1, 1), (2, 5), (5, 5), (6, 17), (22, 53)])
def test_no_more_are_read_than_a_few_times_what_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: int, read: int
) -> None:
    log = TableLog(write_log(tmp_path / "t", [float(n) for n in range(100)]))
    asked = []
    monkeypatch.setattr(
        "ivm_core.engine.log.read_entries",
        lambda table, newest, limit: asked.append(limit) or read_entries(table, newest, limit),
    )
    assert [commit.version for commit in islice(log.newest_first(1), wanted)] == [*range(99, 99 - wanted, -1)]
    assert asked[-1] == max(asked) == read


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    assert not TableLog.exists(str(tmp_path / "none"))
    with pytest.raises(BaseTableError, match="no Delta table"):
        TableLog(str(tmp_path / "none")).version()


def test_intervals() -> None:
    assert parse_interval("interval 30 days") == timedelta(days=30)
    assert parse_interval("interval 1 week 12 hours") == timedelta(days=7, hours=12)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("file:/a/b%20c", "/a/b%20c"),
        ("file:///a/b c/", "/a/b c"),
        ("/a/b%20c", "/a/b%20c"),
        ("s3a://bucket/a", "s3a://bucket/a"),
        ("abfss://c@account/x", "abfss://c@account/x"),
    ],
)
def test_locations(location: str, expected: str) -> None:
    assert normalize_location(location) == expected


@pytest.mark.spark
def test_both_ways_tell_the_same(spark: SparkSession, warehouse: Path) -> None:
    path = str(warehouse / "a table")
    frame = spark.range(10).selectExpr("id AS k")
    for version in (1, 2):
        writer = frame.write.format("delta").mode("append").option("txnAppId", "app").option("txnVersion", version)
        writer.option("userMetadata", f"batch {version}").option("delta.enableChangeDataFeed", "true").save(path)
    direct, through_spark = TableLog(path), TableLog(path)
    through_spark._table = SparkLog(spark, path)
    for log in (direct, through_spark):
        assert log.version() == 1
        assert log.transaction_version("app") == 2
        assert log.transaction_version("other") is None
        assert log.properties()["delta.enableChangeDataFeed"] == "true"
        assert [c.user_metadata for c in log.commits(-1, 1)] == ["batch 1", "batch 2"]
        assert next(iter(log.newest_first())).user_metadata == "batch 2"
    assert direct.table_id() == through_spark.table_id()
    # The one is when the writer made the commit, the other when its file was there.
    between = abs(direct.commits(-1, 1)[0].timestamp - through_spark.commits(-1, 1)[0].timestamp)
    assert between < timedelta(seconds=5)
    assert direct.size().rows == 20
    assert direct.size().size_bytes == through_spark.size().size_bytes
    shutil.rmtree(path)


@pytest.mark.spark
def test_the_newest_commit_of_a_version_though_others_follow(spark: SparkSession, warehouse: Path) -> None:
    path = str(warehouse / "followed")
    spark.range(3).write.format("delta").option("userMetadata", "one").save(path)
    log = TableLog(path, spark)
    log._table = SparkLog(spark, path)
    for _ in range(3):
        spark.range(3).write.format("delta").mode("append").option("userMetadata", "later").save(path)
    assert [commit.user_metadata for commit in log.newest_first(at_first=1)] == ["one"]
    assert [commit.version for commit in log.commits(-1, 0)] == [0]
    shutil.rmtree(path)


@pytest.mark.spark
def test_a_folder_with_a_per_cent_sign_is_read_through_spark(spark: SparkSession, warehouse: Path) -> None:
    path = str(warehouse / "per%20cent")
    spark.range(3).write.format("delta").save(path)
    assert TableLog.exists(path, spark)
    assert TableLog(path, spark).version() == 0
    assert TableLog(f"file:{path}", spark).location == path


def test_a_commit_that_says_nothing_of_itself_keeps_its_number(tmp_path: Path) -> None:
    operations = ["CREATE TABLE", "OPTIMIZE", "SET TBLPROPERTIES", "WRITE", "VACUUM END"]
    location = write_log(tmp_path / "t", [0, 1, 2, 3, 4], operations)
    file = Path(location) / "_delta_log" / f"{3:020}.json"
    lines = [line for line in file.read_text().splitlines() if "commitInfo" not in line]
    file.write_text("\n".join(lines))  # the protocol allows that
    log = TableLog(location)
    log.earliest_readable()  # more of the log is known then than is asked for below
    assert [commit.operation for commit in log.commits(-1, 4)] == [*operations[:3], "", operations[4]]
    assert range_class(log.commits(2, 4), 2, 4) is CommitClass.MUTATING
    assert range_class(log.commits(0, 2), 0, 2) is CommitClass.NOOP
