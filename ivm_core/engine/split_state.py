"""Which rows of a state a batch may touch."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def touched_rows(state: pa.Table, batch: pa.Table, keys: Sequence[str]) -> pa.ChunkedArray | None:
    """Of each row whether its every key occurs among the batch's values of that column, NULL too: so more rows than have a
    key of the batch may be found. ``keys``: as ``telling_keys`` gives them, at least one.
    """
    touched = None
    for key, column in _same_columns(state.schema, batch.schema, keys):
        values = batch.column(column).unique().cast(state.column(key).type)
        found = pc.is_in(state.column(key), value_set=values)
        touched = found if touched is None else pc.and_(touched, found)
    return touched


def telling_keys(state: pa.Schema, batch: pa.Schema, keys: Sequence[str]) -> list[str]:
    """The keys by which rows can be told apart here; those of other types, which are left out, would only tell more."""
    return [key for key, _ in _same_columns(state, batch, keys)]


def _same_columns(state: pa.Schema, batch: pa.Schema, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Keys whose types mean the same in both, with their names in the batch."""
    actual = {name.lower(): name for name in batch.names}
    pairs = [(key, actual[key.lower()]) for key in keys if key.lower() in actual]
    return [(key, name) for key, name in pairs if _comparable(state.field(key).type, batch.field(name).type)]


def _comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Equal in Spark and equal here mean the same, as they do not of floating-point numbers."""
    if pa.types.is_floating(one) or pa.types.is_nested(one):
        return False
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return one.unit == other.unit and (one.tz is None) == (other.tz is None)
    return bool(one == other) or (_is_text(one) and _is_text(other))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
