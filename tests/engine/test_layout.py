"""In how many files of a table one value may be, by the log's statistics."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from ivm_core.engine.layout import files_with_a_value
from ivm_core.engine.log import TableLog

COLUMNS = ("k", "day", "name", "at", "amount", "mixed", "scattered", "two", "missing", "list", "none")


def rows(start: int) -> pa.Table:
    keys = range(start, start + 10)
    days = [date(2026, 1, 1) + timedelta(days=key) for key in keys]
    return pa.table(
        {
            "k": pa.array(keys, pa.int64()),
            "Day": pa.array(days, pa.date32()),
            "name": [f"customer {key:03}" for key in keys],
            "at": pa.array([key * 1_000_000 for key in keys], pa.timestamp("us", tz="UTC")),
            "amount": pa.array([Decimal(key) for key in keys], pa.decimal128(12, 2)),
            "mixed": pa.array([start + 7 * place for place in range(10)], pa.int32()),
            "scattered": pa.array([0, 99] * 5, pa.int32()),
            "two": pa.array([start // 20] * 10, pa.int32()),
            "missing": pa.nulls(10, pa.int32()),
            "list": pa.array([[1]] * 10, pa.list_(pa.int64())),
        }
    )


@pytest.fixture
def location(tmp_path: Path) -> str:
    place = str(tmp_path / "a table")
    for start in range(0, 60, 10):
        deltalake.write_deltalake(place, rows(start), mode="append")
    return place


def test_values_of_a_table_in_order_are_in_one_file(location: str) -> None:
    version = TableLog(location).version()
    found = files_with_a_value(location, version, COLUMNS)
    ordered = dict.fromkeys(("k", "day", "name", "at", "amount"), 1.0)
    assert found == (6, {**ordered, "mixed": pytest.approx(5.0), "scattered": 6.0, "two": 2.0})


def test_a_file_without_bounds_may_hold_any_value(location: str) -> None:
    nothing_known = rows(0).set_column(0, "k", pa.nulls(10, pa.int64()))
    deltalake.write_deltalake(location, nothing_known, mode="append")
    assert files_with_a_value(location, TableLog(location).version(), ["k"]) == (7, {"k": 2.0})


def test_dates_that_python_does_not_have_tell_nothing(tmp_path: Path) -> None:
    place = str(tmp_path / "old")
    deltalake.write_deltalake(place, pa.table({"day": pa.array([-5_000_000], pa.date32()), "k": [1]}))
    assert files_with_a_value(place, 0, ["day", "k"]) == (1, {"k": 1.0})


def test_other_tables_are_not_told_of(tmp_path: Path) -> None:
    assert files_with_a_value("s3a://bucket/table", 0, ["k"]) is None
    assert files_with_a_value(str(tmp_path / "nothing"), 0, ["k"]) is None
