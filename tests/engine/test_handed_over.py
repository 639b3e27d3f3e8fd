"""Rows that Spark reads from a file are those that were handed over, and the file goes when nobody needs it any more."""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from ivm_core.engine.handed_over import HandedOver
from ivm_core.engine.queries import fetch, types_of_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table(
    {
        "tiny": pa.array([1, None, -128], pa.int8()),
        "small": pa.array([1, None, -32768], pa.int16()),
        "plain": pa.array([1, None, 2**31 - 1], pa.int32()),
        "big": pa.array([1, None, -(2**63)], pa.int64()),
        "yes": pa.array([True, None, False]),
        "short": pa.array([Decimal("0.01"), None, Decimal("-99.99")], pa.decimal128(4, 2)),
        "long": pa.array([Decimal("1"), None, Decimal("9" * 38)], pa.decimal128(38, 0)),
        "single": pa.array([float("nan"), None, -0.0], pa.float32()),
        "double": pa.array([float("inf"), None, 1e300]),
        "day": pa.array([date(1, 1, 1), None, date(9999, 12, 31)]),
        "instant": pa.array(
            [datetime(1500, 2, 28, tzinfo=UTC), None, datetime(9999, 12, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")
        ),
        "clock": pa.array([datetime(1, 1, 1), None, datetime(2024, 3, 31, 2, 30)], pa.timestamp("us")),
        "text": pa.array(["", None, "ä\0"]),
        "bytes": pa.array([b"", None, b"\xff\x00"]),
    }
)


REBASE = "spark.sql.parquet.datetimeRebaseModeInRead"
NAMES = {
    "plain": ROWS.column_names,
    "odd": [f"x{'.,;{}() ='[place % 9]}{place}" for place in range(ROWS.num_columns)],
    "equal but for case": ["".join(pair) for pair in product("nN", "aA", "mM", "eE")][: ROWS.num_columns],
}


@pytest.mark.spark
@pytest.mark.parametrize("names", NAMES.values(), ids=list(NAMES))
@pytest.mark.parametrize("rebase", ["CORRECTED", "LEGACY", "EXCEPTION"])
def test_spark_reads_what_was_handed_over(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], rebase: str
) -> None:
    folder = tmp_path / "jörg's #1 + (tmp)"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    spark.conf.set(REBASE, rebase)
    try:
        compare_what_spark_reads(spark, names)
    finally:
        spark.conf.unset(REBASE)


def compare_what_spark_reads(spark: SparkSession, names: list[str]) -> None:
    files = HandedOver()
    scope = files.begin()
    rows = ROWS.rename_columns(names)
    frame = files.frame(spark, rows, types_of_rows(rows))
    assert frame is not None
    found, types = fetch(frame)
    assert types == types_of_rows(rows)
    shown = found.rename_columns(ROWS.column_names).cast(ROWS.schema)
    # NaN is not equal to itself, and -0.0 is to 0.0.
    assert [repr(row) for row in shown.to_pylist()] == [repr(row) for row in ROWS.to_pylist()]
    files.end(scope)


@pytest.mark.spark
def test_a_file_stays_until_all_have_ended_that_may_read_it(spark: SparkSession) -> None:
    files = HandedOver()
    types = types_of_rows(ROWS)
    assert files.frame(spark, ROWS, types) is None, "nobody would remove it"
    first, second = files.begin(), files.begin()
    frame = files.frame(spark, ROWS, types)
    assert frame is not None
    (file,) = (Path(name.removeprefix("file://")) for name in frame.inputFiles())
    third = files.begin()
    files.end(first)
    files.end(first)
    assert file.exists()
    files.end(second)
    assert not file.exists()
    other = files.frame(spark, ROWS, types)
    assert other is not None
    assert len(list(file.parent.iterdir())) == 1
    files.end(third)
    assert not file.parent.exists()
    again = files.begin()
    assert files.frame(spark, ROWS, types) is not None
    files.end(again)


def test_what_arrow_and_spark_store_differently_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    files = HandedOver()
    files.begin()
    for values in (pa.array([[1]]), pa.array([{"a": 1}]), pa.array([1], pa.timestamp("ns")), pa.array([None])):
        rows = pa.table({"a": values})
        assert files.frame(None, rows, None) is None  # type: ignore[arg-type]

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("ivm_core.engine.handed_over.pq.write_table", full)
    assert files.frame(None, pa.table({"a": [1]}), None) is None  # type: ignore[arg-type]
