"""BAG: append where only copies are added; otherwise find the stored rows to remove and change both in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow.compute as pc
from sqlglot import exp

from ivm_core.apply import bag, bag_near
from ivm_core.apply.names import STATE, Odd, col, number
from ivm_core.engine import rows_here
from ivm_core.engine.model import Applied
from ivm_core.engine.prune import key_predicate
from ivm_core.engine.small import HERE, SmallRelation
from ivm_core.errors import DriftError
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN
from ivm_core.plan.nodes import WEIGHT
from ivm_core.plan.types import is_comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ivm_core.engine.split_state import Apart
    from ivm_core.engine.write import Writing

_ADDED = "__ivm_added"
_VICTIMS = "__ivm_victims"


def write_bag(writing: Writing) -> Applied:
    """Apply weighted rows. Raises ``DriftError`` where the state lacks a row that is to be removed."""
    columns, step, approximate = writing.write.columns, writing.write.step, writing.write.approximate
    batch = writing.batch()
    odd = {name: type_ for name, type_ in batch.types().items() if name in columns and not is_comparable(type_)}
    applied = Applied(inserted=batch.added, deleted=batch.removed)
    here = writing.here(columns, WEIGHT) if applied.inserted <= HERE and not odd else None
    if applied.deleted == 0:
        rows = bag.repeat_rows(columns, step, writing.batch_number)
        copies = rows_here.repeated(here, columns, writing.batch_number) if here is not None else None
        return applied.at(writing.append(rows, applied.inserted, copies))
    gone = batch.here.filter(pc.less(batch.here.column(WEIGHT), 0)) if batch.here is not None else None
    apart = writing.apart(() if approximate or odd else columns, gone)
    if apart is not None and here is not None and rows_here.are_comparable(here, columns):
        after = rows_here.bag_after(apart.shown, here, columns, writing.batch_number)
        if after is None:
            raise _drift(writing, applied.deleted, "fewer")
        version = writing.put(after, apart)
        if version is not None:
            return applied.at(version)
    stored = writing.show_state(apart)
    if approximate:
        return _write_near(writing, odd, stored, apart, applied)
    if apart is not None or writing.rewrites:
        query = bag.rewrite_state(columns, STATE, step, writing.batch_number, odd)
        return applied.at(writing.replace(query, apart))
    _show_near(writing, stored, [name for name in columns if name not in odd])
    found = _find(writing, bag.victims(columns, STATE, step, odd), applied)
    _merge(writing, bag.source_of_merge(columns, step, _VICTIMS, writing.batch_number, odd), found)
    return applied


def _show_near(writing: Writing, stored: DataFrame, columns: Sequence[str]) -> None:
    """Of the stored rows only those that may equal a row to remove."""
    batch = writing.batch()
    few = SmallRelation(batch.frame.where(exp.LT(this=col(WEIGHT), expression=number(0)).sql("spark")), batch.rows)
    near = key_predicate(few, columns, writing.relations.pushdown_cap, relation="")
    writing.relations.name(STATE, stored.where(near.sql("spark")) if near is not None else stored)


def _write_near(writing: Writing, odd: Odd, stored: DataFrame, apart: Apart | None, applied: Applied) -> Applied:
    """The same where the rows to remove may differ from the stored ones in the last digits of some columns."""
    columns, step, approximate = writing.write.columns, writing.write.step, writing.write.approximate
    added = bag.repeat_rows(columns, step, writing.batch_number)
    writing.relations.keep(_ADDED, writing.relations.select(added))  # its row ids must not change
    if not writing.rewrites:
        _show_near(writing, stored, [n for n in columns if n not in approximate and n not in odd])
    found = _find(writing, bag_near.victims(columns, approximate, STATE, _ADDED, step, odd), applied)
    if writing.rewrites:
        return applied.at(writing.replace(bag_near.rewrite_state(columns, STATE, _ADDED, _VICTIMS), apart))
    _merge(writing, bag_near.source_of_merge(columns, _ADDED, _VICTIMS), found)
    return applied


def _find(writing: Writing, victims: exp.Query, applied: Applied) -> SmallRelation:
    """The rows that go, as many as the batch takes away. Raises ``DriftError``."""
    found = writing.relations.keep(_VICTIMS, writing.relations.select(victims))
    if found.rows != applied.deleted:
        raise _drift(writing, applied.deleted, f"{found.rows} of them")
    return found


def _drift(writing: Writing, removed: int, stored: str) -> DriftError:
    return DriftError(
        f"The state of {writing.state.target.name} does not fit its query: {removed} rows are to be removed, "
        f"{stored} are stored. Nothing was written. `ivm validate` shows the difference, `ivm refresh` "
        "builds the view anew."
    )


def _merge(writing: Writing, source: exp.Query, found: SmallRelation) -> None:
    kept = writing.source(source)
    pruning = key_predicate(found, (BATCH_COLUMN, ROW_COLUMN), writing.relations.pushdown_cap)
    writing.execute(bag.merge_into_state(writing.write.columns, writing.target(), kept, pruning))
