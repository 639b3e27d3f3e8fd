"""How well a table's files tell apart the values of a column, from the statistics in its log."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from statistics import fmean
from typing import Any

import pyarrow as pa

from ivm_core.engine.log_files import ODD, open_alike
from ivm_core.engine.plain_files import PLAIN_FEATURES


def files_with_a_value(location: str, version: int, columns: Iterable[str]) -> tuple[int, dict[str, float]] | None:
    """How many files a table has, and in how many of them one value of a column may be, on average.

    Columns in lower case, without those that have no statistics. None of tables that this process does not open.
    """
    table = open_alike(location, version, PLAIN_FEATURES, ODD)
    if table is None:
        return None
    files = pa.table(table.get_add_actions(flatten=True))
    times = Counter(name.lower() for name in files.column_names)
    actual = {name.lower(): name for name in files.column_names if times[name.lower()] == 1}
    found = {}
    for column in columns:
        ends = [actual.get(f"{end}.{column}") for end in ("min", "max")]
        if None in ends:
            continue
        try:
            mean = _files_of_one(*(files.column(name).to_pylist() for name in ends))
        except (OverflowError, ValueError):  # a year before 1 or after 9999, and bytes that are no UTF-8
            continue
        if mean is not None:
            found[column] = mean
    return files.num_rows, found


def _files_of_one(lows: list[Any], highs: list[Any]) -> float | None:
    """The mean over the middles of the files of how many files may hold one. A file without bounds may hold any."""
    known = [(low, high) for low, high in zip(lows, highs, strict=True) if low is not None and high is not None]
    if not known:
        return None
    places = _places([value for both in known for value in both])
    starts, ends = sorted(places[::2]), sorted(places[1::2])
    middles = [(low + high) / 2 for low, high in zip(places[::2], places[1::2], strict=True)]
    return len(lows) - len(known) + fmean(bisect_right(starts, v) - bisect_left(ends, v) for v in middles)


def _places(values: list[Any]) -> list[float]:
    """Numbers that are in the order of the values; of texts, by what follows all that they begin with alike."""
    match values[0]:
        case str():
            ends = zip(min(values), max(values), strict=False)
            alike = next((place for place, (one, other) in enumerate(ends) if one != other), len(min(values)))
            return [int.from_bytes(value[alike:].encode()[:8].ljust(8, b"\0")) for value in values]
        case datetime():
            return [(value.replace(tzinfo=None) - datetime.min).total_seconds() for value in values]
        case date():
            return [value.toordinal() for value in values]
        case _:
            return [float(value) for value in values]
