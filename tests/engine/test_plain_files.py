"""Which tables are read by their files, and which of their files a batch's values leave out."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
import pytest

from ivm_core.engine.commit import typed_failures
from ivm_core.engine.direct import DirectState
from ivm_core.engine.plain_files import PlainTable
from ivm_core.engine.small import ColumnValues
from ivm_core.errors import HistoryGone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTS = ([1, 5], [6, 9], [20, None], [None, None])


@pytest.fixture
def location(tmp_path: Path) -> str:
    """Four files, with k in 1–5, 6–9, 20 and NULL, and only NULL."""
    path = str(tmp_path / "a table")
    for part in PARTS:
        days = [None if k is None else date.fromordinal(700_000 + k) for k in part]
        rows = pa.table({"k": pa.array(part, pa.int64()), "day": pa.array(days, pa.date32()), "t": ["x", "y"]})
        deltalake.write_deltalake(path, rows, mode="append")
    return path


def kept(table: PlainTable, column: str, values: ColumnValues, nulls: bool = False) -> list[Any]:
    """The least k of each file that may hold the values."""
    mask = table._may_hold(column, values, nulls)
    lows = table.files.column("min.k").to_pylist()
    return sorted((low if low is not None else -1) for low, keep in zip(lows, mask, strict=True) if keep)


@pytest.mark.parametrize(
    ("listed", "nulls", "expected"),
    [
        ([3], False, [-1, 1]),
        ([5, 6], False, [-1, 1, 6]),
        ([10, 19], False, [-1]),
        ([0, 30], False, [-1]),
        ([20], False, [-1, 20]),
        ([], False, [-1]),
        ([3], True, [-1, 1, 20]),
    ],
)
def test_files_of_listed_values(location: str, listed: list[int], nulls: bool, expected: list[int]) -> None:
    table = PlainTable.open(location, 3)
    assert table is not None
    low, high = (min(listed), max(listed)) if listed else (None, None)
    # A file without statistics of a column (here: only NULL) is never left out.
    assert kept(table, "K", ColumnValues("bigint", listed, low, high, nulls), nulls) == expected


def test_files_of_a_range(location: str) -> None:
    table = PlainTable.open(location, 3)
    assert table is not None
    assert kept(table, "k", ColumnValues("bigint", None, 5, 6, False)) == [-1, 1, 6]
    first, last = date.fromordinal(700_007).isoformat(), date.fromordinal(700_020).isoformat()
    assert kept(table, "day", ColumnValues("date", None, first, last, False)) == [-1, 6, 20]
    assert len(kept(table, "t", ColumnValues("string", ["nothing"], "nothing", "nothing", False))) == len(PARTS)


def test_nothing_is_left_out_by_what_cannot_be_told(location: str, tmp_path: Path) -> None:
    table = PlainTable.open(location, 3)
    assert table is not None
    for values in (["+10000-01-01"], None):
        assert len(kept(table, "day", ColumnValues("date", values, None, None, False))) == len(PARTS)
    both = str(tmp_path / "both")
    deltalake.write_deltalake(both, pa.table({"k": [1], "a": [{"b": 1}], "a.b": [7]}))
    nested = PlainTable.open(both, 0)
    assert nested is not None and kept(nested, "a.b", ColumnValues("bigint", [5], 5, 5, False)) == [1]


def test_statistics_of_a_structs_field_are_not_those_of_a_column_of_that_name(tmp_path: Path) -> None:
    location, of_the_struct = str(tmp_path / "t"), {"delta.dataSkippingStatsColumns": "k,a"}
    rows = pa.table({"k": [1], "a": [{"b": 1}], "a.b": [5]})
    deltalake.write_deltalake(location, rows, configuration=of_the_struct)
    log = tmp_path / "t" / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    least = {"k": 1, "a": {"b": 1}}  # as Spark writes it; delta-rs leaves the field out
    stats = {"numRecords": 1, "minValues": least, "maxValues": least, "nullCount": {"k": 0, "a": {"b": 0}}}
    for action in actions:
        if "add" in action:
            action["add"]["stats"] = json.dumps(stats)
    log.write_text("".join(json.dumps(action) + "\n" for action in actions))
    table = PlainTable.open(location, 0)
    assert table is not None and kept(table, "a.b", ColumnValues("bigint", [5], 5, 5, False)) == [1]
    assert kept(table, "k", ColumnValues("bigint", [5], 5, 5, False)) == []


def test_tables_that_only_delta_can_read(tmp_path: Path) -> None:
    rows = pa.table({"k": [1, 2], "p": ["a", "b"]})
    partitioned = str(tmp_path / "partitioned")
    deltalake.write_deltalake(partitioned, rows, partition_by=["p"])
    assert PlainTable.open(partitioned, 0) is None
    assert PlainTable.open("s3a://bucket/table", 0) is None
    odd = str(tmp_path / "odd,1")
    deltalake.write_deltalake(odd, rows)
    assert PlainTable.open(odd, 0) is None


@pytest.mark.spark
def test_rows_are_those_that_delta_reads(spark: SparkSession, warehouse: Path) -> None:
    path = str(warehouse / "evolved")
    spark.sql(f"CREATE TABLE delta.`{path}` (k INT NOT NULL, `a-b` DECIMAL(5,2), at TIMESTAMP) USING DELTA").collect()
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 1.5, TIMESTAMP '1890-01-01 12:00:00'), (2, NULL, NULL)").collect()
    spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN late STRUCT<x: INT>").collect()
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (3, 2, NULL, named_struct('x', 4))").collect()
    spark.sql(f"DELETE FROM delta.`{path}` WHERE k = 2").collect()
    version = spark.sql(f"DESCRIBE HISTORY delta.`{path}` LIMIT 1").collect()[0]["version"]
    plain = PlainTable.open(path, version)
    assert plain is not None
    expected = spark.read.format("delta").load(path)
    found = plain.read(spark)
    assert [(f.name, f.dataType) for f in found.schema] == [(f.name, f.dataType) for f in expected.schema]
    assert sorted(found.collect(), key=str) == sorted(expected.collect(), key=str)


@pytest.mark.spark
def test_a_vacuumed_file_is_gone_history(spark: SparkSession, location: str) -> None:
    plain = PlainTable.open(location, 3)
    assert plain is not None
    for name in plain.files.column("path").to_pylist():
        (Path(location) / name).unlink()
    with pytest.raises(HistoryGone), typed_failures(location):
        plain.read(spark).collect()


def test_a_protocol_that_names_no_features_is_left_to_delta(tmp_path: Path) -> None:
    path = str(tmp_path / "mapped")
    deltalake.write_deltalake(path, pa.table({"k": [1]}))
    log = Path(path) / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "protocol" in action:
            action["protocol"] = {"minReaderVersion": 2, "minWriterVersion": 5}  # column mapping is among its features
    log.write_text("\n".join(json.dumps(action) for action in actions))
    assert PlainTable.open(path, 0) is None
    assert DirectState.open(path, 0) is None


@pytest.mark.spark
def test_deletion_vectors_are_left_to_delta(spark: SparkSession, warehouse: Path) -> None:
    path = str(warehouse / "vectors")
    spark.sql(
        f"CREATE TABLE delta.`{path}` (k INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    ).collect()
    assert PlainTable.open(path, 0) is None
