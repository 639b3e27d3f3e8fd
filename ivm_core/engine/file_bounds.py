"""Files that hold none of some keys, by the bounds of columns that the log keeps for each file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def may_hold(actions: pa.Table, values: Mapping[str, pa.ChunkedArray | pa.Array]) -> list[bool]:
    """Of each file whether every column may hold one of its values, NULL among them; a batch need not open the others.

    ``actions`` has a row for each file, as delta-rs gives it (``get_add_actions(flatten=True)``); a bound that is NULL or
    missing is not known. Only integers and days are looked at: bounds of texts are cut, those of instants rounded.
    """
    held = np.ones(actions.num_rows, bool)
    for name, among in values.items():
        bounds = [f"{end}.{name}" for end in ("min", "max", "null_count")]
        if not _is_exact(among.type) or any(actions.column_names.count(bound) != 1 for bound in bounds):
            continue
        low, high, nulls = (actions.column(bound) for bound in bounds)
        if low.type != high.type or not _is_exact(low.type):
            continue
        wanted = np.sort(_numbers(among.drop_null()))
        known = pc.and_(low.is_valid(), high.is_valid()).to_numpy()
        only_nulls = pc.equal(nulls, actions.column("num_records")).fill_null(False).to_numpy()
        first = np.searchsorted(wanted, _numbers(low.fill_null(_zero(low.type))), "left")
        last = np.searchsorted(wanted, _numbers(high.fill_null(_zero(high.type))), "right")
        found = ~known & ~only_nulls | known & (first < last)
        if among.null_count:
            found |= pc.not_equal(nulls, 0).fill_null(True).to_numpy()
        held &= found
    return [bool(each) for each in held]


def _is_exact(type_: pa.DataType) -> bool:
    return bool(pa.types.is_signed_integer(type_) or pa.types.is_date32(type_))


def _zero(type_: pa.DataType) -> pa.Scalar:
    return pa.scalar(0, pa.int32()).cast(type_) if pa.types.is_date32(type_) else pa.scalar(0, type_)


def _numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    whole = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    return np.asarray(whole.cast(pa.int64()).to_numpy())
