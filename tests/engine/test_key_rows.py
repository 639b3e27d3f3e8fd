"""Keys of one column looked up in another: of its type, or not at all."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from ivm_core.engine.key_rows import comparable, keys_of, within


@pytest.mark.parametrize(
    ("values", "given", "wanted", "keys"),
    [
        (pa.array([1, 2, 2, None]), "bigint", "bigint", pa.array([1, 2])),
        (pa.array([1, 3_000_000_000]), "bigint", "int", pa.array([1], pa.int32())),
        (pa.array([-(2**63), 2**63 - 1, 0]), "bigint", "tinyint", pa.array([0], pa.int8())),
        (pa.array([1, 2], pa.int32()), "int", "bigint", pa.array([1, 2])),
        (pa.array(["a", None], pa.large_string()), "string", "varchar(3)", pa.array(["a"])),
        (pa.array([date(2024, 1, 1)]), "date", "date", pa.array([date(2024, 1, 1)])),
        (pa.array([Decimal("1.5")]), "decimal(2,1)", "decimal(2,1)", pa.array([Decimal("1.5")])),
    ],
)
def test_keys_have_the_type_of_the_column_that_they_are_looked_up_in(values, given, wanted, keys):
    assert comparable(given, wanted)
    found = keys_of(pa.chunked_array([values]), given, wanted)
    assert found.equals(keys)
    assert within(found, keys)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("string", "int"), ("double", "double"), ("float", "int"), ("decimal(2,1)", "decimal(3,1)"),
        ("date", "timestamp"), ("timestamp", "timestamp_ntz"), ("array<int>", "array<int>"),
    ],
)  # fmt: skip
def test_columns_that_need_a_cast_are_not_looked_up(given, wanted):
    assert not comparable(given, wanted)
