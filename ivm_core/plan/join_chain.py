"""Nested inner joins as a list of inputs with conditions, and back."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, JoinKind, Plan, references
from ivm_core.plan.rewrite import both, conjuncts


def join_chain(plan: Plan) -> tuple[tuple[Plan, ...], tuple[exp.Expression, ...]]:
    """The inputs R₁ … Rₙ of nested inner joins, left to right, and the conditions on and between them."""
    match plan:
        case Join(left, right, JoinKind.INNER, condition):
            (left_inputs, left_conditions), (right_inputs, right_conditions) = join_chain(left), join_chain(right)
            return left_inputs + right_inputs, left_conditions + right_conditions + conjuncts(condition)
        case Filter(source, condition) if isinstance(_below_filters(source), Join):
            inputs, conditions = join_chain(source)
            # Over a single input, such as an outer join, the filter is a part of that input.
            return (inputs, conditions + conjuncts(condition)) if len(inputs) > 1 else ((plan,), ())
        case _:
            return (plan,), ()


def join_all(inputs: tuple[Plan, ...], conditions: tuple[exp.Expression, ...]) -> Plan:
    """R₁ ⋈ … ⋈ Rₙ from left to right, each condition as early as its columns are there."""
    pending = list(dict.fromkeys(conditions))
    joined: Plan | None = None
    for source in inputs:
        local = [c for c in pending if references(c) <= set(source.names)]
        pending = [c for c in pending if c not in local]
        condition = both(*local)
        filtered = source if condition is None else Filter(source, condition)
        if joined is None:
            joined = filtered
            continue
        available = {*joined.names, *source.names}
        ready = [c for c in pending if references(c) <= available]
        pending = [c for c in pending if c not in ready]
        joined = Join(joined, filtered, JoinKind.INNER, both(*ready))
    assert joined is not None and not pending
    return joined


def _below_filters(plan: Plan) -> Plan:
    while isinstance(plan, Filter):
        plan = plan.source
    return plan
