"""Rows compared bit by bit: -0.0 and 0.0, and any two NaN, are then as different as they are stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ivm_core.engine.small import net_rows
from ivm_core.plan.nodes import WEIGHT

_BITS = {pa.float64(): pa.int64(), pa.float32(): pa.int32()}


def as_bits(rows: pa.Table) -> pa.Table:
    """Floating-point numbers as integers of the same bits; ``viewed`` under the types of before undoes it."""
    return viewed(rows, [_BITS.get(type_, type_) for type_ in rows.schema.types])


def viewed(rows: pa.Table, types: Sequence[pa.DataType]) -> pa.Table:
    """The same bits under other types."""
    columns = [
        column if column.type == type_ else pa.chunked_array([part.view(type_) for part in column.chunks], type_)
        for column, type_ in zip(rows.columns, types, strict=True)
    ]
    return pa.table(columns, names=rows.column_names)


def difference(old: pa.Table, new: pa.Table) -> pa.Table:
    """The rows, as bits, of which one table has more copies than the other, with how many more the new one has as WEIGHT."""
    weights = pa.array(np.repeat(np.array([-1, 1], dtype=np.int64), [old.num_rows, new.num_rows]))
    netted = net_rows(as_bits(pa.concat_tables([old, new])).append_column(WEIGHT, weights))
    assert netted is not None, "rows that are netted by their bits"
    return netted
