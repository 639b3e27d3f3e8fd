"""Rows that this process finds in a table's files are those with the keys; what it may not tell is left to Spark."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from ivm_core.engine import looked_up, snapshots
from ivm_core.engine.looked_up import look_up
from ivm_core.engine.model import Relation
from ivm_core.engine.plain_files import PlainTable
from ivm_core.engine.snapshots import Snapshots

TYPES = {
    "k": "bigint",
    "Part": "int",
    "name": "string",
    "day": "date",
    "price": "decimal(4,2)",
    "f": "double",
    "l": "array<int>",
}
ROWS = [
    (1, 1, "a", date(2024, 1, 1), Decimal("1.50"), 0.5),
    (2, 1, "b", date(2024, 1, 2), None, None),
    (2, 2, None, None, Decimal("2.50"), float("nan")),
    (None, 2, "a", date(1, 1, 1), Decimal("1.50"), -0.0),
    (9, None, "c", date(9999, 12, 31), Decimal("9.99"), 1.0),
    (2, 1, "b", date(2024, 1, 2), None, None),
]


@pytest.fixture
def table(tmp_path: Path) -> PlainTable:
    """Three files of two rows each."""
    types = [pa.int64(), pa.int32(), pa.string(), pa.date32(), pa.decimal128(4, 2), pa.float64()]
    for start in range(0, len(ROWS), 2):
        columns = zip(TYPES, zip(*ROWS[start : start + 2], strict=True), types, strict=False)
        rows = pa.table({name: pa.array(values, type_) for name, values, type_ in columns})
        rows = rows.append_column("l", pa.array([[1], None], pa.list_(pa.int32())))
        deltalake.write_deltalake(str(tmp_path / "t"), rows, mode="append")
    found = PlainTable.open(str(tmp_path / "t"), 2)
    assert found is not None
    return found


def found(table: PlainTable, columns: set[str], *alternatives: dict[str, Any]) -> list[tuple[Any, ...]] | None:
    types = {name.lower(): type_ for name, type_ in TYPES.items()}
    rows = look_up(table, types, columns, alternatives)
    return None if rows is None else sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)


def integers(*values: int) -> pa.Array:
    return pa.array(values, pa.int64())


@pytest.mark.parametrize(
    ("alternatives", "places"),
    [
        ([{"k": integers(2)}], [1, 2, 5]),
        ([{"k": integers(1, 9, 77)}], [0, 4]),
        ([{"k": integers(2), "part": pa.array([2], pa.int32())}], [2]),
        ([{"k": integers(1)}, {"part": pa.array([2], pa.int32())}], [0, 2, 3]),
        ([{"k": integers(2)}, {"k": integers(2, 9)}], [1, 2, 4, 5]),
        ([{"name": pa.array(["a", "z"])}], [0, 3]),
        ([{"day": pa.array([date(1, 1, 1), date(9999, 12, 31)])}], [3, 4]),
        ([{"price": pa.array([Decimal("1.50")], pa.decimal128(4, 2))}], [0, 3]),
        ([{}], [0, 1, 2, 3, 4, 5]),
        ([{"k": integers(1)}, {}], [0, 1, 2, 3, 4, 5]),
        ([{"k": integers()}], []),
        ([{"k": integers(3, 8)}], []),
    ],
)
def test_rows_with_the_keys(table: PlainTable, alternatives: list[dict[str, Any]], places: list[int]) -> None:
    expected = sorted(((ROWS[place][1], ROWS[place][3]) for place in places), key=repr)
    assert found(table, {"part", "day"}, *alternatives) == expected


def test_files_without_keys_are_not_opened(table: PlainTable) -> None:
    Path(table.folder, *table.files.filter(pa.compute.equal(table.files["min.k"], 1))["path"].to_pylist()).unlink()
    assert found(table, {"part"}, {"k": integers(9)}) == [(None,)]
    assert found(table, {"part"}, {"k": integers(1)}) is None, "Spark tells what is missing"


def test_what_is_left_to_spark(table: PlainTable, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(table, {"l"}, {"k": integers(1)}) is None
    assert found(table, {"part"}) == []
    monkeypatch.setattr(looked_up, "MOST_ROWS", 2)
    assert found(table, {"part"}, {"name": pa.array(["b"])}) is not None
    assert found(table, {"part"}, {"name": pa.array(["a", "b"])}) is None
    assert found(table, {"part"}, {"k": integers(2, 3)}) is None, "so many are expected"
    monkeypatch.setattr(looked_up, "MOST_ROWS", 100)
    monkeypatch.setattr(looked_up, "MOST_BYTES", 7)
    assert found(table, {"part"}, {"name": pa.array(["b"])}) is None


def test_a_comparison_reads_nothing_by_this_process(
    table: PlainTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "tasks_run_here", lambda _: True)
    columns = tuple((name, type_) for name, type_ in TYPES.items() if name != "l")
    relation = Relation("s.t", str(tmp_path / "t"), "id", columns)
    reading = Snapshots(None)  # type: ignore[arg-type]
    assert reading.looked_up(relation, 2, {"k"}, [{}])().num_rows == len(ROWS)  # type: ignore[union-attr]
    reading.leave_to_spark()
    assert reading.looked_up(relation, 2, {"k"}, [{}])() is None
