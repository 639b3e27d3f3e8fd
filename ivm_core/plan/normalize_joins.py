"""Joins: outer joins no wider than needed, always to the left, and inner joins in an order without products."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.nodes import Aggregate, Distinct, Filter, Join, JoinKind, Plan, Project, keep, references
from ivm_core.plan.rewrite import both, conjuncts

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like, exp.ILike, exp.RegexpLike)
_STRICT = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.Neg, exp.Paren, exp.Cast)
_KEPT_BY_LEFT = {JoinKind.LEFT: JoinKind.INNER, JoinKind.FULL: JoinKind.RIGHT}
_KEPT_BY_RIGHT = {JoinKind.RIGHT: JoinKind.INNER, JoinKind.FULL: JoinKind.LEFT}


def left_from_right_join(plan: Plan) -> Plan:
    """A RIGHT JOIN B → B LEFT JOIN A, columns in the old order."""
    match plan:
        case Join(left, right, JoinKind.RIGHT, condition):
            return Project(Join(right, left, JoinKind.LEFT, condition), keep(plan.names))
    return plan


def tighten_outer_join(plan: Plan) -> Plan:
    """σ_p(A LEFT JOIN B) → σ_p(A ⋈ B) where p is never true for NULLs in place of B; likewise RIGHT and FULL."""
    match plan:
        case Filter(Join(left, right, kind) as join, condition) if kind in (
            JoinKind.LEFT,
            JoinKind.RIGHT,
            JoinKind.FULL,
        ):
            parts = conjuncts(condition)
            # Rows without a partner on the right side have NULLs there.
            if kind in _KEPT_BY_LEFT and any(rejects_nulls(part, frozenset(right.names)) for part in parts):
                kind = _KEPT_BY_LEFT[kind]
            if kind in _KEPT_BY_RIGHT and any(rejects_nulls(part, frozenset(left.names)) for part in parts):
                kind = _KEPT_BY_RIGHT[kind]
            return plan if kind == join.kind else Filter(replace(join, kind=kind), condition)
    return plan


def rejects_nulls(condition: exp.Expr, names: frozenset[str]) -> bool:
    """Whether the condition cannot be true if all the named columns are NULL.

    >>> from sqlglot import parse_one
    >>> [rejects_nulls(parse_one(sql), frozenset({"b"})) for sql in ("a < b + 1", "b IS NULL", "coalesce(b, 1) = 1")]
    [True, False, False]
    """
    match condition:
        case exp.Paren():
            return rejects_nulls(condition.this, names)
        case exp.And():
            return rejects_nulls(condition.left, names) or rejects_nulls(condition.right, names)
        case exp.Or():
            return rejects_nulls(condition.left, names) and rejects_nulls(condition.right, names)
        case exp.Between() | exp.In():
            return strict_in(condition.this, names)
        case exp.Not(this=inner):
            bare = inner.unnest()
            if isinstance(bare, exp.Is):
                return isinstance(bare.expression, exp.Null) and strict_in(bare.this, names)
            return isinstance(bare, (*_COMPARISONS, exp.In, exp.Between)) and rejects_nulls_in_comparison(bare, names)
        case _:
            return isinstance(condition, _COMPARISONS) and rejects_nulls_in_comparison(condition, names)


def rejects_nulls_in_comparison(comparison: exp.Expr, names: frozenset[str]) -> bool:
    """Whether a comparison is unknown if the named columns are NULL."""
    if isinstance(comparison, exp.In | exp.Between):
        return strict_in(comparison.this, names)
    return strict_in(comparison.this, names) or strict_in(comparison.expression, names)


def drop_distinct_right(plan: Plan) -> Plan:
    """A ⋉ DISTINCT B → A ⋉ B, and so for anti joins: only whether there is a match counts."""
    match plan:
        case Join(left, Distinct(right), (JoinKind.SEMI | JoinKind.ANTI) as kind, condition):
            return Join(left, right, kind, condition)
        case Join(left, Aggregate(right, keys, ()), (JoinKind.SEMI | JoinKind.ANTI) as kind, condition) if keys:
            return Join(left, Project(right, keys), kind, condition)
    return plan


def connect_joins(plan: Plan) -> Plan:
    """A × B ⋈ C, linked as A–C–B → A ⋈ C ⋈ B: no product that conditions can avoid, each condition as deep as it can be."""
    if not isinstance(plan, Join) or plan.kind != JoinKind.INNER:
        return plan
    inputs, conditions = _chain(plan)
    ordered, waiting = [inputs[0]], list(inputs[1:])
    while waiting:
        reached = {name for source in ordered for name in source.names}
        following = next((source for source in waiting if _linked(conditions, reached, source)), waiting[0])
        ordered.append(following)
        waiting = [source for source in waiting if source is not following]
    joined = _join_all(ordered, conditions)
    if joined == plan:
        return plan
    return joined if joined.names == plan.names else Project(joined, keep(plan.names))


def _linked(conditions: tuple[exp.Expression, ...], reached: set[str], source: Plan) -> bool:
    """Whether some condition ties the source to what is reached, needing nothing else."""
    names = set(source.names)
    return any(used & reached and used & names and used <= reached | names for used in map(references, conditions))


def _chain(plan: Plan) -> tuple[tuple[Plan, ...], tuple[exp.Expression, ...]]:
    """The inputs of nested inner joins, left to right, and all their conditions."""
    if not isinstance(plan, Join) or plan.kind != JoinKind.INNER:
        return (plan,), ()
    left, on_left = _chain(plan.left)
    right, on_right = _chain(plan.right)
    return (*left, *right), (*on_left, *on_right, *conjuncts(plan.condition))


def _join_all(inputs: list[Plan], conditions: tuple[exp.Expression, ...]) -> Plan:
    """A left-deep join; each condition at the first join that has all its columns."""
    joined, left_over = inputs[0], list(conditions)
    for source in inputs[1:]:
        available = {*joined.names, *source.names}
        ready = [part for part in left_over if references(part) <= available]
        left_over = [part for part in left_over if part not in ready]
        joined = Join(joined, source, JoinKind.INNER, both(*ready))
    return joined


def strict_in(expression: exp.Expr, names: frozenset[str]) -> bool:
    """Whether the expression is certainly NULL if the named columns are."""
    if isinstance(expression, exp.Column):
        return expression.name in names
    if isinstance(expression, _STRICT):
        return any(strict_in(child, names) for child in expression.iter_expressions())
    return False
