"""Which rows of a state a batch may touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc


def values_of_keys(state: pa.Schema, batch: pa.Table, keys: Sequence[str]) -> dict[str, pa.Array]:
    """The batch's values of each key as the state has them, NULL too; those that tell most rows apart first.

    Keys of types that are not compared here are left out: without them only more rows may be found.
    """
    actual = {name.lower(): name for name in batch.column_names}
    values = {}
    for key in keys:
        name = actual.get(key.lower())
        if name is not None and _comparable(state.field(key).type, batch.schema.field(name).type):
            values[key] = batch.column(name).unique().cast(state.field(key).type)
    return dict(sorted(values.items(), key=lambda item: -len(item[1])))


def touched_rows(
    read: Callable[[str], pa.ChunkedArray], values: Mapping[str, pa.Array], enough: int
) -> tuple[pa.ChunkedArray, int]:
    """Of each row whether its keys, of which there is at least one, occur among the values of that column, and how many do.

    ``read`` gives a column. It is not asked for further ones where the first leave no more rows than are ``enough``.
    """
    touched, rows = None, 0
    for key, among in values.items():
        found = pc.is_in(read(key), value_set=among)
        touched = found if touched is None else pc.and_(touched, found)
        rows = pc.sum(touched).as_py() or 0
        if rows <= enough:
            break
    assert touched is not None, "there is at least one key"
    return touched, rows


def _comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Equal in Spark and equal here mean the same, as they do not of floating-point numbers."""
    if pa.types.is_floating(one) or pa.types.is_nested(one):
        return False
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other):
        return one.unit == other.unit and (one.tz is None) == (other.tz is None)
    return bool(one == other) or (_is_text(one) and _is_text(other))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))
