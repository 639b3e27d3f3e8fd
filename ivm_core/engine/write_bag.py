"""BAG: append where only copies are added; otherwise find the stored rows to remove and change both in one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply import bag
from ivm_core.apply.names import STATE, col, number
from ivm_core.engine.model import Applied
from ivm_core.engine.prune import key_predicate
from ivm_core.engine.small import SmallRelation
from ivm_core.errors import DriftError
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN
from ivm_core.plan.nodes import WEIGHT

if TYPE_CHECKING:
    from ivm_core.engine.write import Writing

_VICTIMS = "__ivm_victims"


def write_bag(writing: Writing) -> Applied:
    """Apply weighted rows. Raises ``DriftError`` where the state lacks a row that is to be removed."""
    columns, step = writing.write.columns, writing.write.step
    batch = writing.batch()
    applied = Applied(inserted=batch.added, deleted=batch.removed)
    if applied.deleted == 0:
        rows = bag.repeat_rows(columns, step, writing.batch_number)
        return applied.at(writing.append(rows, applied.inserted))
    stored = writing.show_state()
    if writing.rewrites or any("map<" in type_ for _, type_ in stored.dtypes):
        # Maps can be grouped, but not compared as a join key.
        version = writing.overwrite(bag.rewrite_state(columns, STATE, step, writing.batch_number))
        return applied.at(version)
    removed = SmallRelation(batch.frame.where(exp.LT(this=col(WEIGHT), expression=number(0)).sql("spark")), batch.rows)
    near = key_predicate(removed, columns, writing.relations.pushdown_cap, relation="")
    writing.relations.name(STATE, stored.where(near.sql("spark")) if near is not None else stored)
    found = writing.relations.keep(_VICTIMS, writing.relations.select(bag.victims(columns, STATE, step)))
    if found.rows != applied.deleted:
        raise DriftError(
            f"The state of {writing.state.target.name} does not fit its query: {applied.deleted} rows are to be removed, "
            f"{found.rows} of them are stored. Nothing was written. `ivm validate` shows the difference, `ivm refresh` "
            "builds the view anew."
        )
    source = writing.source(bag.source_of_merge(columns, step, _VICTIMS, writing.batch_number))
    pruning = key_predicate(found, (BATCH_COLUMN, ROW_COLUMN), writing.relations.pushdown_cap)
    writing.execute(bag.merge_into_state(columns, writing.target(), source, pruning))
    return applied
