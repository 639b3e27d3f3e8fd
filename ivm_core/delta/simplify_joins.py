"""The order of inner joins: from the smallest input outwards, along the query's own conditions."""

from __future__ import annotations

from ivm_core.delta.keys import is_restriction
from ivm_core.plan.join_chain import join_all, join_chain
from ivm_core.plan.nodes import (
    WEIGHT,
    Changes,
    Filter,
    Join,
    JoinKind,
    Plan,
    Project,
    keep,
    references,
    sources,
)
from ivm_core.plan.remembered import remembered
from ivm_core.plan.rewrite import transform_down


def reorder_joins(plan: Plan) -> Plan:
    """A⁺ ⋈ B⁺ ⋈ ΔC → ΔC ⋈ B⁺ ⋈ A⁺, where a condition links C to B and B to A."""
    return transform_down(plan, reorder_chain, _in_order)


def _in_order(plan: Plan) -> Plan | None:
    """What of a chain in order is a chain in order itself, being its beginning: n joins are looked at once, not n times."""
    match plan:
        case Join(Join(kind=JoinKind.INNER) | Filter() as left, _, JoinKind.INNER):
            return left
        case Filter(Join(kind=JoinKind.INNER) | Filter() as source):
            return source
        case _:
            return None


def reorder_chain(plan: Plan) -> Plan:
    """One chain of inner joins, started from its delta, or else from a restricted input; as it is where neither is."""
    inputs, conditions = join_chain(plan)
    start = _start(inputs)
    if len(inputs) == 1 or start is None:
        return plan
    ordered = [inputs[start]]
    waiting = [i for i in range(len(inputs)) if i != start]
    links = [references(condition) for condition in conditions]
    own_links = [[link for link in links if not link.isdisjoint(source.names)] for source in inputs]
    reached = set(inputs[start].names)
    while waiting:
        near = (i for i in waiting if any(not link.isdisjoint(reached) for link in own_links[i]))
        # Nothing linked: a product that the query itself has.
        following = next(near, waiting[0])
        ordered.append(inputs[following])
        reached.update(inputs[following].names)
        waiting.remove(following)
    if tuple(ordered) == inputs:
        return plan
    joined = join_all(tuple(ordered), conditions)
    return joined if joined.names == plan.names else Project(joined, keep(plan.names))


def _start(inputs: tuple[Plan, ...]) -> int | None:
    """The input with the weight, or the changes whose weight nobody reads; else the first restricted input."""
    tests = (lambda source: WEIGHT in source.names, _is_delta, _is_restricted)
    return next((i for test in tests for i, source in enumerate(inputs) if test(source)), None)


@remembered
def _is_delta(plan: Plan) -> bool:
    return isinstance(plan, Changes) or any(map(_is_delta, _carrying(plan)))


def _carrying(node: Plan) -> tuple[Plan, ...]:
    """The inputs whose rows come through: the right one of a semijoin only restricts the others."""
    only_left = isinstance(node, Join) and node.kind in (JoinKind.SEMI, JoinKind.ANTI)
    return sources(node)[:1] if only_left else sources(node)


@remembered
def _is_restricted(plan: Plan) -> bool:
    return is_restriction(plan) or any(map(_is_restricted, sources(plan)))
