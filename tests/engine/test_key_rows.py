"""Keys of one column looked up in another: of its type, or not at all."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from ivm_core.engine.key_rows import comparable, keys_of, looked_up, within
from ivm_core.engine.small import ColumnValues


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


ROWS = [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (9, 1), (None, 1)]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("parts", "suppliers", "listed", "kept"),
    [
        pytest.param([1, 9], [1, 2], None, [(1, 1), (9, 1)], id="the column with the fewest keys of their range"),
        pytest.param([1, 2, 3], [1, 99], None, [row for row in ROWS if row[1] == 1], id="whichever it is"),
        pytest.param([1, 2, 3], [1, 2], None, ROWS, id="many keys leave little out"),
        pytest.param([1, 9], [1, 2], [1, 9], ROWS, id="listed keys are in the query already"),
    ],
)
def test_one_column_of_several_is_looked_up(spark, parts, suppliers, listed, kept):
    frame = spark.createDataFrame(ROWS, "part BIGINT, `the supplier` INT")
    keys = {"part": pa.array(parts), "the supplier": pa.array(suppliers, pa.int32())}
    bounds = [
        ("part", ColumnValues("bigint", listed, min(parts), max(parts), nulls=False), False),
        ("the supplier", ColumnValues("int", None, min(suppliers), max(suppliers), nulls=False), False),
    ]
    found = [tuple(row) for row in looked_up(spark, frame, bounds, keys).collect()]
    assert sorted(found, key=repr) == sorted(kept, key=repr)
