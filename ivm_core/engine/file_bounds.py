"""Files that hold none of some values, by the bounds of columns that the log keeps for each file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def may_hold(
    files: pa.Table, column: str, wanted: pa.Array, *, nulls: bool, between: bool = False, counted: bool = False
) -> Any:
    """Of each file, as an array of truth values, whether a column may hold one of the values ``wanted``; ``nulls``: or NULL.

    ``files`` has a row for each, as delta-rs gives it (``get_add_actions(flatten=True)``); a bound that is NULL or missing is
    not known. ``between``: any value from the least to the greatest of those wanted. ``counted``: a file with as many NULLs as
    rows holds no value. Only integers and days are told apart: bounds of texts are cut, those of instants rounded.
    """
    everything = np.ones(files.num_rows, dtype=bool)
    actual = {name.lower(): name for name in files.column_names}
    low, high, missing = (actual.get(f"{part}.{column}".lower()) for part in ("min", "max", "null_count"))
    if "." in column or low is None or high is None or (nulls and missing is None):
        # A field b of a struct a would have the name of a column `a.b`, and may be the one with bounds.
        return everything
    lows, highs = files.column(low), files.column(high)
    if lows.type != highs.type or not _order_alike(lows.type, wanted.type):
        return everything
    values = np.sort(_numbers(wanted.drop_null()))
    if between:
        found = (_numbers(lows) <= values[-1]) & (_numbers(highs) >= values[0])
    else:
        found = np.searchsorted(values, _numbers(lows), "left") < np.searchsorted(values, _numbers(highs), "right")
    known = pc.and_(lows.is_valid(), highs.is_valid()).to_numpy()
    found = np.where(known, found, True)
    if missing is not None:
        counts = files.column(missing)
        if counted:
            found &= ~pc.equal(counts, files.column("num_records")).fill_null(False).to_numpy()
        if nulls:
            found |= pc.not_equal(counts, 0).fill_null(True).to_numpy()
    return found


def _order_alike(one: pa.DataType, other: pa.DataType) -> bool:
    return any(test(one) and test(other) for test in (pa.types.is_signed_integer, pa.types.is_date32))


def _numbers(column: pa.ChunkedArray | pa.Array) -> Any:
    """The values as numbers that order alike; of what is NULL any."""
    whole = (
        column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    )  # Python's dates end with the year 9999
    return whole.cast(pa.int64()).fill_null(0).to_numpy()
