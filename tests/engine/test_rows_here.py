"""A state's new rows made by this process: the same as Spark's queries would make, with the ids of rows that stay."""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from ivm_core.engine.rows_here import are_comparable, bag_after, bag_of, groups_after, repeated

IDS = ["__ivm_batch", "__ivm_row"]
WEIGHT = "__ivm_weight"
COLUMNS = [".a", "place"]  # Arrow takes the first for a path


def state(*rows: tuple[object, ...]) -> pa.Table:
    types = [pa.int32(), pa.string(), pa.int64(), pa.int64()]
    return table([*COLUMNS, *IDS], types, rows)


def weighted(*rows: tuple[object, ...]) -> pa.Table:
    return table([*COLUMNS, WEIGHT], [pa.int32(), pa.string(), pa.int64()], rows)


def table(names, types, rows) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=names)


def rows_of(found: pa.Table) -> list[tuple[object, ...]]:
    return sorted(zip(*(found.column(n).to_pylist() for n in found.column_names), strict=True), key=repr)


def test_copies_go_and_come_and_the_others_keep_their_ids() -> None:
    stored = state((1, "x", 1, 0), (1, "x", 1, 1), (None, "x", 1, 2), (None, None, 1, 3), (2, "y", 1, 4))
    batch = weighted((1, "x", -1), (None, None, -1), (2, "y", 2), (3, None, 1))
    found = bag_after(stored, batch, COLUMNS, 7)
    kept = [row for row in rows_of(found) if row[2] == 1]
    assert kept in (
        [(1, "x", 1, 0), (2, "y", 1, 4), (None, "x", 1, 2)],
        [(1, "x", 1, 1), (2, "y", 1, 4), (None, "x", 1, 2)],
    )
    new = [row for row in rows_of(found) if row[2] == 7]
    assert Counter(row[:2] for row in new) == {(2, "y"): 2, (3, None): 1}
    assert sorted(row[3] for row in new) == [0, 1, 2]


@pytest.mark.parametrize("batch", [weighted((1, "x", -2)), weighted((9, None, -1)), weighted((None, "x", -1))])
def test_a_row_that_is_not_stored_often_enough_is_told(batch: pa.Table) -> None:
    assert bag_after(state((1, "x", 1, 0), (1, None, 1, 1)), batch, COLUMNS, 2) is None


def test_weights_of_equal_rows_are_netted() -> None:
    stored = state((1, "x", 1, 0))
    assert rows_of(bag_after(stored, weighted((1, "x", -2), (1, "x", 2)), COLUMNS, 2)) == [(1, "x", 1, 0)]
    assert bag_after(state(), weighted((1, "x", -1), (1, "x", 1)), COLUMNS, 2).num_rows == 0


def test_random_batches_give_the_bag_that_they_should() -> None:
    random = Random(5)
    stored, expected = state(), Counter()
    for number in range(1, 60):
        change = Counter({(random.choice((1, 2, None)), random.choice("xy")): random.randint(-2, 3) for _ in range(4)})
        change = {row: max(weight, -expected[row]) for row, weight in change.items()}
        stored = bag_after(stored, weighted(*((*row, weight) for row, weight in change.items())), COLUMNS, number)
        expected.update(change)
        assert Counter(row[:2] for row in rows_of(stored)) == +expected
        ids = [row[2:] for row in rows_of(stored)]
        assert len(ids) == len(set(ids))


def test_rows_to_add_are_repeated() -> None:
    found = repeated(weighted((1, "x", 2), (None, "y", 0), (2, None, 1)), COLUMNS, 3)
    assert rows_of(found) == [(1, "x", 3, 0), (1, "x", 3, 1), (2, None, 3, 2)]


def test_groups_are_replaced_by_their_keys() -> None:
    names, types = ["k", "place", "v"], [pa.string(), pa.date32(), pa.decimal128(10, 2)]
    first, second = date(2026, 1, 1), date(9999, 12, 31)
    stored = table(
        names, types, [("a", first, Decimal(1)), ("a", None, Decimal(2)), (None, first, Decimal(3)), (None, None, None)]
    )
    batch = table(
        [*names, "vanished"],
        [*types, pa.bool_()],
        [("a", first, Decimal(5), False), (None, None, None, True), ("b", second, None, False)],
    )
    assert rows_of(groups_after(stored, batch, ["k", "place"], "vanished")) == sorted(
        [("a", None, Decimal(2)), (None, first, Decimal(3)), ("a", first, Decimal(5)), ("b", second, None)], key=repr
    )


def test_floating_and_nested_columns_are_left_to_spark() -> None:
    rows = pa.table({"i": pa.array([1]), "f": pa.array([0.0]), "l": pa.array([[1]])})
    assert are_comparable(rows, ["i"])
    assert not any(are_comparable(rows, columns) for columns in (["i", "f"], ["l"], []))


def test_a_bag_computed_anew_keeps_the_ids_of_rows_that_are_the_same_to_the_bit() -> None:
    names, types = ["x", "y"], [pa.float64(), pa.float32()]
    nan = float("nan")
    before = [(0.0, 1.0), (-0.0, 1.0), (nan, 2.0), (nan, 2.0), (None, None), (1.5, nan)]
    stored = table([*names, *IDS], [*types, pa.int64(), pa.int64()], [(*row, 1, n) for n, row in enumerate(before)])
    new = table(names, types, [(-0.0, 1.0), (nan, 2.0), (None, None), (None, None), (1.5, nan), (2.5, 3.0)])
    found = bag_of(stored, new, names, 4)
    assert found.schema == stored.schema
    ids = {row[3] if row[2] == 1 else None for row in rows_of(found)}
    assert ids in ({1, 2, 4, 5, None}, {1, 3, 4, 5, None})
    assert sorted(repr(row[:2]) for row in rows_of(found)) == sorted(repr(row) for row in rows_of(new))
