"""One reading with the columns that all views of a run need, where the versions that one of them reads have them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ivm_core.engine.failures import SPARK_FAILURES

Rows = TypeVar("Rows")


def read_for_all(
    wanted: Iterable[str], needed: Iterable[str], read: Callable[[frozenset[str]], Rows]
) -> tuple[frozenset[str], Rows]:
    """What ``read`` gives for the wanted and the needed columns together, or for the wanted ones alone; and for which.

    A column that only other views need may be missing from the versions at hand, as it came after them: no view may fail
    for that but those that need it. Raises what ``read`` raises for the wanted columns.
    """
    alone = frozenset(wanted)
    together = alone | frozenset(needed)
    try:
        return together, read(together)
    except SPARK_FAILURES:
        if together == alone:
            raise
        return alone, read(alone)
