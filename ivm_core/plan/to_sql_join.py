"""Merges the two sides of a join into one SELECT, nesting a side only where the join's meaning asks for it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.nodes import JoinKind
from ivm_core.plan.rewrite import both, conjuncts
from ivm_core.plan.to_sql_draft import Draft, nest

_FILLS_LEFT = (JoinKind.RIGHT, JoinKind.FULL)  # unmatched right rows get NULL for all columns of the left
_FILLS_RIGHT = (JoinKind.LEFT, JoinKind.FULL)


def join_drafts(left: Draft, right: Draft, kind: JoinKind, condition: exp.Expression | None) -> Draft:
    """SELECT … FROM left JOIN right ON condition.

    A filter of a side that the join may fill with NULL belongs to the condition; a filter of a side that it keeps
    belongs to WHERE. A FULL join has neither place, and a computed column must be filled with NULL after it is
    computed: such sides stay nested.
    """
    parts = list(conjuncts(condition))
    if not _can_lead(left, kind) or left.repeats(parts):
        left = nest(left, _hint(left))
    if not _can_follow(right, kind) or right.repeats(parts):
        right = nest(right, _hint(right))
    both_sides = replace(left, columns=(*left.columns, *right.columns))
    on = [both_sides.resolve(part) for part in parts]
    where = left.where
    match kind:
        case JoinKind.INNER:
            where = (*left.where, *right.where)
        case JoinKind.LEFT | JoinKind.SEMI | JoinKind.ANTI:
            on += right.where
        case JoinKind.RIGHT:
            on += left.where
            where = right.where
        case JoinKind.FULL:
            pass
    relation = replace(right.relations[0], kind=kind, on=both(*on))
    keeps_right = kind not in (JoinKind.SEMI, JoinKind.ANTI)
    return Draft(
        columns=both_sides.columns if keeps_right else left.columns,
        relations=(*left.relations, relation),
        where=where,
    )


def _hint(side: Draft) -> str:
    return side.relations[0].hint if len(side.relations) == 1 else "joined"


def _can_lead(left: Draft, kind: JoinKind) -> bool:
    if not left.is_rows or not left.relations or any(relation.lateral for relation in left.relations):
        return False
    return _can_be_filled(left, kind, kind in _FILLS_LEFT)


def _can_follow(right: Draft, kind: JoinKind) -> bool:
    return right.is_rows and len(right.relations) == 1 and _can_be_filled(right, kind, kind in _FILLS_RIGHT)


def _can_be_filled(side: Draft, kind: JoinKind, is_filled: bool) -> bool:
    if kind is JoinKind.FULL and side.where:
        return False
    return side.has_plain_columns or not is_filled
