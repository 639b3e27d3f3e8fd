"""Files are left out only where the log tells that they hold none of the keys."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm_core.engine import file_bounds

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-3, 12)), max_size=4)
NUMBER = pa.int64()
ENDS = (-(2**63), 2**63 - 1)


def may_hold(files: pa.Table, keys: pa.Array, column: str = "k", *, between: bool = False) -> list[bool]:
    nulls = keys.null_count > 0
    return file_bounds.may_hold(files, column, keys, nulls=nulls, between=between, counted=True).tolist()


def actions(files: list[list[int | None]], type_: pa.DataType = NUMBER, *, told: bool = True) -> pa.Table:
    """What the log tells of files with these values in a column ``k``."""
    known = [[value for value in file if value is not None] for file in files]
    ends = [(min(file), max(file)) if file and told else (None, None) for file in known]
    return pa.table(
        {
            "path": [str(n) for n in range(len(files))],
            "num_records": pa.array([len(file) if told else None for file in files], NUMBER),
            "min.k": pa.array([low for low, _ in ends], type_),
            "max.k": pa.array([high for _, high in ends], type_),
            "null_count.k": pa.array([file.count(None) if told else None for file in files], NUMBER),
        }
    )


@given(st.lists(NUMBERS, max_size=4), NUMBERS, st.booleans())
def test_no_file_with_a_key_is_left_out(files: list[list[int | None]], keys: list[int | None], told: bool) -> None:
    held = may_hold(actions(files, told=told), pa.array(keys, NUMBER))
    assert all(may for may, file in zip(held, files, strict=True) if set(file) & set(keys))


@pytest.mark.parametrize(
    ("keys", "held"),
    [
        ([3], [True, False, False]),
        ([4], [False, False, False]),
        ([None], [False, False, True]),
        ([None, 7], [False, True, True]),
        ([], [False, False, False]),
        (list(ENDS), [False, False, False]),
    ],
)
def test_files_without_the_keys_are_left_out(keys: list[int | None], held: list[bool]) -> None:
    for last in ([None, None], [20, None, 30]):
        assert may_hold(actions([[1, 3], [5, 9], last]), pa.array(keys, NUMBER)) == held


def test_days_and_the_ends_of_numbers_are_compared() -> None:
    days = [date(2026, 1, day) for day in (1, 10)]
    known = actions([days, [day + timedelta(30) for day in days]], pa.date32())
    assert may_hold(known, pa.array([date(2026, 1, 5)])) == [True, False]
    assert may_hold(actions([list(ENDS), [0]]), pa.array(ENDS, NUMBER)) == [True, False]


@pytest.mark.parametrize("type_", [pa.string(), pa.timestamp("us", tz="UTC"), pa.decimal128(21, 2)])
def test_bounds_that_may_be_rounded_leave_nothing_out(type_: pa.DataType, tmp_path: Path) -> None:
    table = pa.table({"k": pa.array([1, 2]).cast(pa.string() if type_ == pa.string() else type_)})
    deltalake.write_deltalake(tmp_path, table)
    told = pa.table(deltalake.DeltaTable(tmp_path).get_add_actions(flatten=True))
    assert may_hold(told, pa.array([None], type_)) == [True]


def test_a_range_is_wanted_whole() -> None:
    known = actions([[1, 3], [5, 9], [12, 20]])
    assert may_hold(known, pa.array([4, 10], NUMBER), between=True) == [False, True, False]
    assert may_hold(known, pa.array([4, 10], NUMBER)) == [False, False, False]


def test_a_column_without_bounds_leaves_nothing_out() -> None:
    assert may_hold(actions([[1, 3]]), pa.array([6], NUMBER), "other") == [True]
