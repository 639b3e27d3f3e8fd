"""Filters sink to where their columns come from; conditions of inner joins become the joins'."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    references,
    sources,
)
from ivm_core.plan.normalize_conditions import is_true
from ivm_core.plan.raising import can_raise
from ivm_core.plan.rewrite import both, conjuncts, substitute, with_sources
from ivm_core.plan.types_plan import same_types

Parts = tuple[exp.Expression, ...]


def merge_filters(plan: Plan) -> Plan:
    """Filter b over Filter a → Filter (a AND b)."""
    match plan:
        case Filter(Filter(source, inner), outer):
            return above(source, (inner, outer))
    return plan


def drop_true_filter(plan: Plan) -> Plan:
    """Filter TRUE over A → A."""
    return plan.source if isinstance(plan, Filter) and is_true(plan.condition) else plan


def push_filter(plan: Plan) -> Plan:
    """σ_p(π A) → π σ_p'(A); σ_p(A ∪ B) → σ_p A ∪ σ_p B; σ_p(A ⋈ B) → A ⋈_p B; σ_p(γ_k A) → γ_k σ_p A for p over k.

    Each conjunct goes as deep as the operator allows; the rest stays above.
    """
    if not isinstance(plan, Filter):
        return plan
    source, parts = plan.source, conjuncts(plan.condition)
    match source:
        case Scan() | Changes() | Values() | Limit() | Filter() | Recursive() | Round():
            return plan
        case Project(inner, columns):
            below = {named.name: named.expression for named in columns}
            # What can fail stays where it is, so that it is asked of the same rows in every form of the plan.
            failing = frozenset(named.name for named in columns if can_raise(named.expression))
            down = tuple(part for part in parts if not references(part) & failing)
            projected = Project(above(inner, tuple(substitute(part, below) for part in down)), columns)
            return above(projected, tuple(part for part in parts if part not in down)) if down else plan
        case UnionAll() | SetOperation():
            # Where the inputs' types differ, the operator casts, and a condition may mean something else below it.
            down = tuple(part for part in parts if references(part) and same_types(sources(source), references(part)))
            if not down:
                return plan
            up = tuple(part for part in parts if part not in down)
            return above(with_sources(source, tuple(above(each, down) for each in sources(source))), up)
        case Distinct(inner):
            return Distinct(above(inner, parts))
        case Join():
            return _into_join(plan, source, parts)
        case Aggregate(inner, keys):
            below = {named.name: named.expression for named in keys}
            down, up = split(parts, frozenset(below))
            return _sink(plan, source, inner, tuple(substitute(part, below) for part in down), up)
        case Window(inner):
            down, up = split(parts, _partition(source))
            return _sink(plan, source, inner, down, up)
        case Generate(inner):
            down, up = split(parts, frozenset(inner.names))
            return _sink(plan, source, inner, down, up)
        case _:
            assert_never(source)


def push_join_condition(plan: Plan) -> Plan:
    """A ⋈_{p(A) ∧ q} B → σ_p A ⋈_q B, and into the right side of left, semi and anti joins likewise."""
    if not isinstance(plan, Join):
        return plan
    parts = conjuncts(plan.condition)
    on_left, rest = split(parts, frozenset(plan.left.names)) if plan.kind in _INTO_LEFT else ((), parts)
    on_right, rest = split(rest, frozenset(plan.right.names)) if plan.kind in _INTO_RIGHT else ((), rest)
    if not on_left and not on_right:
        return plan
    # Only an inner join does without a condition.
    condition = both(*rest) or (None if plan.kind == JoinKind.INNER else exp.true())
    return Join(above(plan.left, on_left), above(plan.right, on_right), plan.kind, condition)


def split(parts: Parts, names: frozenset[str]) -> tuple[Parts, Parts]:
    """The parts over some of the names and no others, and the rest."""
    inside = tuple(part for part in parts if references(part) and references(part) <= names)
    return inside, tuple(part for part in parts if part not in inside)


def above(plan: Plan, parts: Parts) -> Plan:
    """The rows of a plan for which all parts are true."""
    condition = both(*parts)
    return plan if condition is None else Filter(plan, condition)


_INTO_LEFT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT)
_INTO_RIGHT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.ANTI, JoinKind.LEFT)


def _into_join(plan: Filter, join: Join, parts: Parts) -> Plan:
    match join.kind:
        case JoinKind.INNER:
            return replace(join, condition=both(join.condition, *parts))
        case JoinKind.LEFT | JoinKind.SEMI | JoinKind.ANTI:
            down, up = split(parts, frozenset(join.left.names))
            return above(replace(join, left=above(join.left, down)), up) if down else plan
        case JoinKind.RIGHT:
            down, up = split(parts, frozenset(join.right.names))
            return above(replace(join, right=above(join.right, down)), up) if down else plan
        case JoinKind.FULL:
            return plan
        case _:
            assert_never(join.kind)


def _sink(plan: Plan, operator: Plan, inner: Plan, down: Parts, up: Parts) -> Plan:
    return above(with_sources(operator, (above(inner, down),)), up) if down else plan


def _partition(window: Window) -> frozenset[str]:
    """The plain columns by which all functions are partitioned: whole partitions may be filtered before."""
    each = [
        {part.name for part in function.expression.args.get("partition_by") or [] if isinstance(part, exp.Column)}
        for function in window.functions
    ]
    return frozenset(set.intersection(*each))
