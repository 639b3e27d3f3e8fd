"""Filters pushed down to the leaves, where they make changes and scans small."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.differentiate import common_partition
from ivm_core.delta.keys import is_restriction
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
from ivm_core.plan.rewrite import both, conjuncts, substitute, with_sources
from ivm_core.plan.types_plan import same_types

Conditions = tuple[exp.Expression, ...]


def push_filter(plan: Plan) -> Plan:
    """σ_p(π Q) → π σ_p'(Q); σ_p(A ∪ B) → σ_p A ∪ σ_p B; σ_p(A ⋈ B) → σ_p A ⋈ B; σ_p(γ_k Q) → γ_k σ_p Q for p over k.

    Each conjunct goes as deep as its columns and the operator allow; the rest stays above.
    """
    if not isinstance(plan, Filter):
        return plan
    source, parts = plan.source, conjuncts(plan.condition)
    match source:
        case Scan() | Changes() | Values() | Limit() | Filter() | Recursive() | Round():
            return plan
        case Project(inner, columns):
            below = {named.name: named.expression for named in columns}
            return Project(_above(inner, tuple(substitute(part, below) for part in parts)), columns)
        case UnionAll() | SetOperation():
            # Where the inputs' types differ, the operator casts, and a condition may mean something else below it.
            inputs = sources(source)
            down = tuple(part for part in parts if same_types(inputs, references(part)))
            up = tuple(part for part in parts if part not in down)
            return _above(with_sources(source, tuple(_above(each, down) for each in inputs)), up) if down else plan
        case Distinct(inner):
            return Distinct(_above(inner, parts))
        case Join():
            return _into_join(plan, source, parts)
        case Aggregate(inner, keys):
            below = {named.name: named.expression for named in keys}
            down, up = _split(parts, frozenset(below))
            return _rebuild(plan, source, inner, tuple(substitute(part, below) for part in down), up)
        case Window(inner):
            partition = common_partition(source)
            down, up = _split(parts, frozenset(c.name for c in partition if isinstance(c, exp.Column)))
            return _rebuild(plan, source, inner, down, up)
        case Generate(inner):
            down, up = _split(parts, frozenset(inner.names))
            return _rebuild(plan, source, inner, down, up)
        case _:
            assert_never(source)


def push_join_condition(plan: Plan) -> Plan:
    """A ⋈_{p(A) ∧ q} B → σ_p A ⋈_q B, and into the right side of semi, anti and left joins likewise.

    Not for Q ⋉ K: K stays the same wherever it is used, so that it is computed once.
    """
    if not isinstance(plan, Join) or is_restriction(plan):
        return plan
    parts = conjuncts(plan.condition)
    on_left, rest = _split(parts, frozenset(plan.left.names)) if plan.kind in _FILTERS_LEFT else ((), parts)
    on_right, rest = _split(rest, frozenset(plan.right.names)) if plan.kind in _FILTERS_RIGHT else ((), rest)
    if not on_left and not on_right:
        return plan
    return Join(_above(plan.left, on_left), _above(plan.right, on_right), plan.kind, both(*rest))


_FILTERS_LEFT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT)
_FILTERS_RIGHT = (JoinKind.INNER, JoinKind.SEMI, JoinKind.ANTI, JoinKind.LEFT)


def _into_join(plan: Filter, join: Join, parts: Conditions) -> Plan:
    match join.kind:
        case JoinKind.INNER:
            return replace(join, condition=both(join.condition, *parts))
        case JoinKind.LEFT | JoinKind.SEMI | JoinKind.ANTI:
            down, up = _split(parts, frozenset(join.left.names))
            return _above(replace(join, left=_above(join.left, down)), up) if down else plan
        case JoinKind.RIGHT:
            down, up = _split(parts, frozenset(join.right.names))
            return _above(replace(join, right=_above(join.right, down)), up) if down else plan
        case JoinKind.FULL:
            return plan
        case _:
            assert_never(join.kind)


def _rebuild(plan: Plan, operator: Plan, inner: Plan, down: Conditions, up: Conditions) -> Plan:
    return _above(with_sources(operator, (_above(inner, down),)), up) if down else plan


def _split(parts: Conditions, names: frozenset[str]) -> tuple[Conditions, Conditions]:
    """The conjuncts over some of the names and no others, and the rest."""
    inside = tuple(part for part in parts if references(part) and references(part) <= names)
    return inside, tuple(part for part in parts if part not in inside)


def _above(plan: Plan, parts: Conditions) -> Plan:
    condition = both(*parts)
    return plan if condition is None else Filter(plan, condition)
