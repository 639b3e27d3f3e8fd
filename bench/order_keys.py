"""TPC-H's sparse order keys: which key the n-th order has, and which keys a refresh function adds or deletes.

TPC-H uses 8 of every 32 keys for the loaded data, so that later sets of orders can take keys among them.
The formula is dbgen's ``MK_SPARSE`` (TPC-H specification, clause 4.2.3): the lowest 3 bits of the order's index stay,
the next 2 bits of the key are the *sequence* (0 for the loaded data), the rest of the index follows.
"""

from __future__ import annotations

from dataclasses import dataclass

ORDERS_AT_SCALE_1 = 1_500_000
LAST_SEQUENCE = 3


def order_key(index: int, sequence: int = 0) -> int:
    """The key of the order with the given index, counted from 1.

    >>> [order_key(index) for index in (1, 7, 8, 9)]
    [1, 7, 32, 33]
    >>> order_key(1, sequence=1)
    9
    """
    return ((((index >> 3) << 2) | (sequence & 3)) << 3) | (index & 7)


def order_index(key: int) -> int:
    """The index that ``order_key`` made the key from, whatever its sequence.

    >>> order_index(order_key(4711, sequence=2))
    4711
    """
    return ((key >> 5) << 3) | (key & 7)


@dataclass(frozen=True, slots=True)
class KeyBlock:
    """The orders ``first`` to ``last`` (indexes, both included) of one sequence: what one refresh set adds or deletes."""

    first: int
    last: int
    sequence: int

    @property
    def orders(self) -> int:
        """How many orders the block has."""
        return self.last - self.first + 1

    @property
    def key_range(self) -> tuple[int, int]:
        """The smallest and the largest key of the block; keys of other sequences lie between them too."""
        return order_key(self.first, self.sequence), order_key(self.last, self.sequence)

    def keys(self) -> list[int]:
        """All keys of the block, ascending."""
        return [order_key(index, self.sequence) for index in range(self.first, self.last + 1)]


def loaded_orders(scale: float) -> int:
    """How many orders the generator makes at a scale factor."""
    return round(ORDERS_AT_SCALE_1 * scale)


def refresh_blocks(scale: float, percent: float, number: int) -> tuple[KeyBlock, KeyBlock]:
    """The blocks that the refresh set with this number (from 1) adds and deletes.

    Set *u* covers the orders (u−1)·n+1 … u·n, n being ``percent`` of all orders: it adds them with the next
    sequence and deletes them with the one before. When all orders have been replaced, the sequence goes up by one.
    At 0.1 percent these are the keys of dbgen's update sets.

    Raises ValueError for a percent outside (0, 100] and for a number past the last sequence.
    """
    if not 0 < percent <= 100:
        raise ValueError(f"percent must be above 0 and at most 100, not {percent}")
    if number < 1:
        raise ValueError(f"refresh sets are numbered from 1, not {number}")
    total = loaded_orders(scale)
    size = max(1, round(total * percent / 100))
    sets_per_sequence = total // size
    sequence, position = divmod(number - 1, sets_per_sequence)
    if sequence >= LAST_SEQUENCE:
        raise ValueError(
            f"at {percent} percent there are {sets_per_sequence * LAST_SEQUENCE} refresh sets, not {number}"
        )
    first = position * size + 1
    last = first + size - 1
    return KeyBlock(first, last, sequence + 1), KeyBlock(first, last, sequence)
