"""Terms of a delta that are empty, cancel, or are nested for no reason."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.delta.keys import is_net
from ivm_core.plan.empty import is_empty, without_rows
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    Recursive,
    SetOperation,
    UnionAll,
    Values,
)
from ivm_core.plan.types_plan import types_of, unless_retyped


def drop_empty(plan: Plan) -> Plan:
    """A ∪ ∅ → A; ∅ ⋈ B → ∅; A ▷ ∅ → A; γ_k(∅) → ∅, but a global aggregate keeps its one row."""
    if is_empty(plan):
        return _empty(plan)
    match plan:
        case Recursive(_, base, step) if is_empty(base) or is_empty(step):
            return base
        case UnionAll(inputs):
            live = tuple(source for source in inputs if not is_empty(source))
            return unless_retyped(plan, live[0] if len(live) == 1 else UnionAll(live))
        case Join(left, right, JoinKind.ANTI) if is_empty(right):
            return left
        case SetOperation(left, right, _, all_) if is_empty(right):  # EXCEPT
            return unless_retyped(plan, left if all_ else Distinct(left))
        case _:
            return plan


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


def _empty(plan: Plan) -> Plan:
    """No rows under the plan's types; it stays where one of them is not known here, for what it meets in a union."""
    return plan if isinstance(plan, Values) or None in types_of(plan).values() else without_rows(plan)
