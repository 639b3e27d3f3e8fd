"""MERGE_GROUPS on a small state in one query: the batch is computed, added to the state and collected at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ivm_core.apply import merge_groups
from ivm_core.apply.names import STATE
from ivm_core.engine.model import Applied

if TYPE_CHECKING:
    from ivm_core.engine.write import Writing


def merge_directly(writing: Writing) -> Applied | None:
    """Add the batch's groups to the state; None where the new state is too large or of other types: nothing is written."""
    direct = writing.direct
    if direct is None or not writing.rewrites:
        return None
    apart = writing.apart()
    if apart is None:
        return None
    writing.show_state(apart)
    query = merge_groups.rewrite_with_origin(writing.write, STATE, writing.write.step)
    rows = writing.collect(writing.relations.select(query), apart)
    fitted = writing.fitted(rows.drop_columns([merge_groups.ORIGIN])) if rows is not None else None
    if rows is None or fitted is None:
        return None
    touched = _with(rows, merge_groups.BATCH)
    vanished = (writing.state.rows or 0) - _with(rows, merge_groups.STORED)
    return Applied(updated=touched + vanished, state_version=direct.replace(apart, fitted, writing.tag))


def _with(rows: pa.Table, origin: int) -> int:
    """How many rows come from the origin."""
    if rows.num_rows == 0:
        return 0
    found = pc.bit_wise_and(rows.column(merge_groups.ORIGIN), origin)
    return int(pc.sum(pc.not_equal(found, 0)).as_py())
