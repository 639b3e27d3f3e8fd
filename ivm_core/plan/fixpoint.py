"""Local rules applied to a whole plan until it comes to rest."""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.plan.nodes import Plan
from ivm_core.plan.rewrite import Rule, map_sources
from ivm_core.plan.share import Sharing


def fixpoint(plan: Plan, rules: Iterable[Rule], limit: int = 100) -> Plan:
    """Apply all rules, inputs first, until none changes anything; equal subplans are one object then.

    An operator's inputs are at rest before the operator is looked at, and what the rules make of it is brought to rest
    before the operators above: what sinks through a plan does so at once, and not by one operator in each pass.

    Raises RuntimeError when ``limit`` rounds were not enough for an operator: two rules undo each other.
    """
    ordered, shared = tuple(rules), Sharing()
    settled: dict[
        int, tuple[Plan, Plan]
    ] = {}  # with the operators themselves: an id is another's once its object is gone
    begun: set[int] = set()

    def settle(node: Plan) -> Plan:
        if id(node) not in settled:
            if id(node) in begun:  # it lies below what the rules made of it
                raise endless
            begun.add(id(node))
            result = bring_to_rest(node)
            settled[id(node)] = node, result
            settled[id(result)] = result, result
        return settled[id(node)][1]

    def bring_to_rest(node: Plan) -> Plan:
        for _ in range(limit):
            rewritten = given = shared(map_sources(node, settle))
            for rule in ordered:
                rewritten = rule(rewritten)
            node = shared(rewritten)
            if node is given:
                return node
        raise endless

    endless = RuntimeError(f"rules do not come to rest: {[rule.__name__ for rule in ordered]}")
    return settle(shared(plan))
