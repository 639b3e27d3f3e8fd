"""Terms of a delta that are empty, cancel, or are nested for no reason."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.keys import is_net
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetKind,
    SetOperation,
    UnionAll,
    Values,
    Window,
)
from ivm_core.plan.normalize_conditions import is_false
from ivm_core.plan.schema import types_of
from ivm_core.plan.types_plan import unless_retyped, without_rows


def drop_empty(plan: Plan) -> Plan:
    """A ∪ ∅ → A; ∅ ⋈ B → ∅; A ▷ ∅ → A; γ_k(∅) → ∅, but a global aggregate keeps its one row."""
    match plan:
        case Scan() | Changes() | Values() | Round():
            return plan
        case Recursive(_, base, step):
            return base if _is_empty(base) or _is_empty(step) else plan
        case UnionAll(inputs):
            live = tuple(source for source in inputs if not _is_empty(source)) or inputs[:1]
            return unless_retyped(plan, live[0] if len(live) == 1 else UnionAll(live))
        case Project(source) | Filter(source) | Distinct(source) | Window(source) | Generate(source) | Limit(source):
            return _empty(plan) if _is_empty(source) else plan
        case Aggregate(source, keys):
            return _empty(plan) if keys and _is_empty(source) else plan
        case Join(left, right, kind):
            if _is_without_pairs(kind, _is_empty(left), _is_empty(right)):
                return _empty(plan)
            return left if kind is JoinKind.ANTI and _is_empty(right) else plan
        case SetOperation(left, right, kind, all_):
            if _is_empty(left) or (_is_empty(right) and kind is SetKind.INTERSECT):
                return _empty(plan)
            return plan if not _is_empty(right) else unless_retyped(plan, left if all_ else Distinct(left))
        case _:
            assert_never(plan)


def merge_unions(plan: Plan) -> Plan:
    """(A ∪ B) ∪ C → A ∪ B ∪ C."""
    match plan:
        case UnionAll(inputs) if any(isinstance(source, UnionAll) for source in inputs):
            flat: list[Plan] = []
            for source in inputs:
                flat.extend(source.sources if isinstance(source, UnionAll) else (source,))
            return UnionAll(tuple(flat))
        case _:
            return plan


def cancel_opposite(plan: Plan) -> Plan:
    """A ∪ B ∪ −B → A, where every row of B has weight 1 in one term and −1 in the other."""
    if not isinstance(plan, UnionAll) or WEIGHT not in plan.names:
        return plan
    rest: list[Plan] = []
    for term in plan.sources:
        opposite = _opposite(term)
        if opposite is not None and opposite in rest:
            rest.remove(opposite)
        else:
            rest.append(term)
    if len(rest) == len(plan.sources):
        return plan
    return UnionAll(tuple(rest)) if rest else _empty(plan)


def net_once(plan: Plan) -> Plan:
    """net(A ∪ net(B)) → net(A ∪ B)."""
    if not is_net(plan):
        return plan
    assert isinstance(plan, Filter) and isinstance(plan.source, Aggregate)
    inner = plan.source.source
    bare = _without_net(inner)
    if isinstance(inner, UnionAll):
        branches = tuple(_without_net(source) for source in inner.sources)
        bare = UnionAll(branches) if branches != inner.sources else inner
    return plan if bare is inner else replace(plan, source=replace(plan.source, source=bare))


def _without_net(plan: Plan) -> Plan:
    if is_net(plan) and isinstance(plan, Filter) and isinstance(plan.source, Aggregate):
        return plan.source.source
    return plan


def _is_without_pairs(kind: JoinKind, no_left: bool, no_right: bool) -> bool:
    match kind:
        case JoinKind.INNER | JoinKind.SEMI:
            return no_left or no_right
        case JoinKind.ANTI | JoinKind.LEFT:
            return no_left
        case JoinKind.RIGHT:
            return no_right
        case JoinKind.FULL:
            return no_left and no_right
        case _:
            assert_never(kind)


def _opposite(term: Plan) -> Plan | None:
    """The term with the other sign, None where its weight is not a constant."""
    if not isinstance(term, Project):
        return None
    columns = []
    for named in term.columns:
        if named.name != WEIGHT:
            columns.append(named)
            continue
        if not isinstance(named.expression, exp.Cast):
            return None
        weight, to = named.expression.this, named.expression.args["to"]
        if isinstance(weight, exp.Neg):
            flipped = weight.this.copy()
        elif isinstance(weight, exp.Literal):
            flipped = exp.Neg(this=weight.copy())
        else:
            return None
        columns.append(Named(WEIGHT, exp.Cast(this=flipped, to=to.copy())))
    return Project(term.source, tuple(columns))


def _is_empty(plan: Plan) -> bool:
    match plan:
        case Values():
            return not plan.rows
        case Filter(source, condition):
            return is_false(condition) or _is_empty(source)
        case Project(source) | Distinct(source) | Window(source) | Generate(source) | Limit(source):
            return _is_empty(source)
        case Aggregate(source, keys):
            return bool(keys) and _is_empty(source)
        case UnionAll(inputs):
            return all(_is_empty(source) for source in inputs)
        case Join(left, right, kind):
            return _is_without_pairs(kind, _is_empty(left), _is_empty(right))
        case _:
            return False


def _empty(plan: Plan) -> Plan:
    """No rows under the plan's types; it stays where one of them is not known here, for what it meets in a union."""
    return plan if None in types_of(plan).values() else without_rows(plan)
