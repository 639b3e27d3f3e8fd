"""Which rows of a state a batch may touch."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def touched_rows(state: pa.Table, batch: pa.Table, keys: Sequence[str]) -> pa.ChunkedArray | None:
    """Of each row whether its every key occurs among the batch's values of that column, NULL too: so more rows than have a
    key of the batch may be found. None where the keys have other types in the batch.
    """
    actual = {name.lower(): name for name in batch.column_names}
    touched = None
    for key in keys:
        name = actual.get(key.lower())
        if name is None or not _comparable(state.column(key).type, batch.column(name).type):
            return None
        values = batch.column(name).unique().cast(state.column(key).type)
        found = pc.is_in(state.column(key), value_set=values)
        touched = found if touched is None else pc.and_(touched, found)
    return touched


def _comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Equal in Spark and equal here mean the same, as they do not of floating-point numbers."""
    if pa.types.is_floating(one) or pa.types.is_nested(one):
        return False
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return one.unit == other.unit and (one.tz is None) == (other.tz is None)
    return bool(one == other) or (_is_text(one) and _is_text(other))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
