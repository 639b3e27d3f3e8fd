"""The new rows of a state that this process holds, after a batch that it holds too: a query of Spark's takes longer.

Rows and keys are equal here as in Spark: NULL is NULL, and floating-point numbers are left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ivm_core.engine.bits import as_bits, difference, viewed
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN
from ivm_core.plan.nodes import WEIGHT

_PLACE = "__ivm_place"  # of a stored row; NULL of a batch's


def are_comparable(rows: pa.Table, columns: Sequence[str]) -> bool:
    """Whether these columns, at least one, can be compared here."""
    types = [rows.schema.field(name).type for name in columns]
    return bool(types) and not any(pa.types.is_floating(type_) or pa.types.is_nested(type_) for type_ in types)


def repeated(weighted: pa.Table, columns: Sequence[str], batch_number: int) -> pa.Table:
    """Each row of positive weight as often as its weight says, with new id columns."""
    weights = np.maximum(weighted.column(WEIGHT).to_numpy(), 0)
    rows = weighted.select(list(columns)).take(pa.array(np.repeat(np.arange(len(weights)), weights)))
    numbers = pa.array(np.full(rows.num_rows, batch_number, dtype=np.int64))
    rows = rows.append_column(BATCH_COLUMN, numbers)
    return rows.append_column(ROW_COLUMN, pa.array(np.arange(rows.num_rows, dtype=np.int64)))


def bag_after(stored: pa.Table, weighted: pa.Table, columns: Sequence[str], batch_number: int) -> pa.Table | None:
    """The stored rows less those that the batch takes away, and what it adds; the others keep their ids.

    None where fewer copies of a row are stored than are to be removed.
    """
    found = _by_value(stored, weighted.select([*columns, WEIGHT]), columns, WEIGHT, "sum")
    gone = found.filter(pc.less(found.column(WEIGHT), 0))
    victims: list[int] = []
    for places, weight in zip(gone.column(_PLACE).to_pylist(), gone.column(WEIGHT).to_pylist(), strict=True):
        copies = [place for place in places if place is not None][:-weight]
        if len(copies) < -weight:
            return None
        victims += copies
    return pa.concat_tables(
        [_without(stored, np.array(victims, dtype=np.int64)), repeated(found, columns, batch_number)]
    )


def bag_of(stored: pa.Table, rows: pa.Table, columns: Sequence[str], batch_number: int) -> pa.Table:
    """The rows with id columns: of those that are stored, equal to the bit, the stored ones."""
    weighted = difference(stored.select(list(columns)), rows)
    after = bag_after(as_bits(stored), weighted, columns, batch_number)
    assert after is not None, "what is taken away is stored"
    return viewed(after, stored.schema.types)


def groups_after(stored: pa.Table, batch: pa.Table, keys: Sequence[str], vanished: str) -> pa.Table:
    """The stored rows without the groups of the batch, and the batch's rows that did not vanish."""
    touching = batch.select(list(keys)).append_column(WEIGHT, pa.array(np.ones(batch.num_rows, dtype=np.int64)))
    found = _by_value(stored, touching, keys, WEIGHT, "max")
    touched = pc.list_flatten(found.filter(pc.greater(found.column(WEIGHT), 0)).column(_PLACE)).drop_null()
    rows = batch.filter(pc.invert(batch.column(vanished))).select(stored.column_names)
    return pa.concat_tables([_without(stored, touched.to_numpy()), rows])


def _by_value(stored: pa.Table, batch: pa.Table, columns: Sequence[str], measure: str, aggregate: str) -> pa.Table:
    """Each distinct value of the columns, with the places of the stored rows that have it and the batch's measure of it."""
    names = [f"c{number}" for number in range(len(columns))]  # Arrow takes a name with a leading dot for a path
    places = pa.array(np.arange(stored.num_rows, dtype=np.int64))
    nothing = pa.array(np.zeros(stored.num_rows, dtype=np.int64))
    one = pa.table([*stored.select(list(columns)).columns, nothing, places], names=[*names, measure, _PLACE])
    other = batch.select([*columns, measure]).rename_columns([*names, measure])
    both = pa.concat_tables([one, other.append_column(_PLACE, pa.nulls(batch.num_rows, pa.int64()))])
    found = both.group_by(names, use_threads=False).aggregate([(measure, aggregate), (_PLACE, "list")])
    return pa.table(
        [*found.select(names).columns, found.column(f"{measure}_{aggregate}"), found.column(f"{_PLACE}_list")],
        names=[*columns, measure, _PLACE],
    )


def _without(rows: pa.Table, places: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Table:
    kept = np.ones(rows.num_rows, dtype=bool)
    kept[places] = False
    return rows.filter(pa.array(kept))
