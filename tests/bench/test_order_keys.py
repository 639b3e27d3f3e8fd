"""The keys of refresh sets against dbgen's formula and against what TPC-H says of them."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import order_keys
from bench.order_keys import KeyBlock, loaded_orders, order_index, order_key, refresh_blocks


def dbgen_key(index: int, sequence: int) -> int:
    """``MK_SPARSE`` as dbgen's C code computes it, step by step."""
    low_bits = index & 7
    result = index >> 3
    result = result << 2
    result += sequence
    result = result << 3
    return result + low_bits


def test_examples_in_the_documentation() -> None:
    assert doctest.testmod(order_keys).failed == 0


@given(st.integers(1, 10**10), st.integers(0, 3))
def test_key_is_dbgens_and_can_be_undone(index: int, sequence: int) -> None:
    key = order_key(index, sequence)
    assert key == dbgen_key(index, sequence)
    assert order_index(key) == index


def test_loaded_orders_take_8_of_every_32_keys() -> None:
    keys = [order_key(index) for index in range(1, 25)]
    assert keys == [*range(1, 8), *range(32, 40), *range(64, 72), 96]


def test_a_set_at_01_percent_is_dbgens() -> None:
    added, deleted = refresh_blocks(scale=1, percent=0.1, number=3)
    assert (added.first, added.last, added.orders) == (3001, 4500, 1500)
    assert deleted.keys() == [order_key(index) for index in range(3001, 4501)]
    assert added.keys() == [key + 8 for key in deleted.keys()]  # noqa: SIM118 - a method, not a mapping


@given(st.sampled_from([0.01, 0.1, 1.0, 10.0]), st.sampled_from([0.1, 1.0, 7.0, 50.0, 100.0]), st.data())
def test_sets_of_a_sequence_do_not_overlap(scale: float, percent: float, data: st.DataObject) -> None:
    size = refresh_blocks(scale, percent, 1)[0].orders
    assert size == max(1, round(loaded_orders(scale) * percent / 100))
    number = data.draw(st.integers(1, 3 * (loaded_orders(scale) // size)))
    added, deleted = refresh_blocks(scale, percent, number)
    assert (added.first, added.last) == (deleted.first, deleted.last)
    assert added.sequence == deleted.sequence + 1
    assert 1 <= added.first <= added.last <= loaded_orders(scale)
    assert (added.first - 1) % size == 0 and added.orders == size


@pytest.mark.parametrize(("percent", "number"), [(0, 1), (-1, 1), (100.5, 1), (10, 0), (10, 31)])
def test_impossible_sets_are_refused(percent: float, number: int) -> None:
    with pytest.raises(ValueError):
        refresh_blocks(0.01, percent, number)


def test_key_range_spans_the_block() -> None:
    block = KeyBlock(10, 30, 2)
    assert block.key_range == (min(block.keys()), max(block.keys()))
