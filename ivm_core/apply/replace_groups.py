"""REPLACE_GROUPS: put the touched groups' new rows in the place of their old ones."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.apply.names import SOURCE, TARGET, col, named, same, table, to_type
from ivm_core.job.model import VANISHED, Write
from ivm_core.plan.types import holds_floating, is_comparable


def rewrite_state(write: Write, state: str, batch: str) -> exp.Query:
    """All rows of the new state: untouched groups, and the batch's rows that did not vanish."""
    untouched = (
        exp.select(*(named(col(name, TARGET), name) for name in write.columns))
        .from_(table(state, TARGET))
        .join(table(batch, SOURCE), on=same(TARGET, SOURCE, write.keys), join_type="left anti")
    )
    rows = exp.select(*(col(name) for name in write.columns)).from_(table(batch)).where(exp.Not(this=col(VANISHED)))
    return exp.union(untouched, rows, distinct=False)


def merge_into_state(
    write: Write,
    target: exp.Table,
    source: str,
    types: Mapping[str, str],
    pruning: exp.Expr | None = None,
) -> exp.Merge:
    """The MERGE that replaces the groups of ``source``. ``types``: Spark types of the columns.

    A row equal to the stored one is left alone, unless it has a type that cannot be compared. Zeros that are equal are told
    apart by their texts, which a view may show.
    """
    values = tuple(name for name in write.columns if name not in write.keys)
    comparable = all(is_comparable(types.get(name)) for name in values)
    zeros = tuple(name for name in values if holds_floating(types.get(name)))
    equal = exp.and_(same(TARGET, SOURCE, values), *(_shown_alike(name) for name in zeros))
    changed = exp.Not(this=exp.Paren(this=equal)) if comparable and values else None
    update = exp.Update(expressions=[exp.EQ(this=col(name, TARGET), expression=col(name, SOURCE)) for name in values])
    insert = exp.Insert(
        this=exp.Tuple(expressions=[col(name) for name in write.columns]),
        expression=exp.Tuple(expressions=[col(name, SOURCE) for name in write.columns]),
    )
    whens = [exp.When(matched=True, source=False, condition=col(VANISHED, SOURCE), then=exp.Var(this="DELETE"))]
    if values:
        whens.append(exp.When(matched=True, source=False, condition=changed, then=update))
    whens.append(exp.When(matched=False, source=False, condition=exp.Not(this=col(VANISHED, SOURCE)), then=insert))
    on = same(TARGET, SOURCE, write.keys)
    return exp.Merge(
        this=exp.alias_(target, TARGET, table=True),
        using=table(source, SOURCE),
        on=exp.and_(on, pruning) if pruning is not None else on,
        whens=exp.Whens(expressions=whens),
    )


def _shown_alike(name: str) -> exp.Expr:
    mine, other = (to_type(col(name, relation), "string") for relation in (TARGET, SOURCE))
    return exp.NullSafeEQ(this=mine, expression=other)
