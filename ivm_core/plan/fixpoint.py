"""Local rules applied to a whole plan until it comes to rest."""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.plan.nodes import Plan
from ivm_core.plan.rewrite import Rule, transform_up
from ivm_core.plan.share import Sharing


def fixpoint(plan: Plan, rules: Iterable[Rule], limit: int = 100) -> Plan:
    """Apply all rules bottom-up, again and again, until a whole pass changes nothing; equal subplans are one object then.

    Raises RuntimeError when ``limit`` passes were not enough: two rules undo each other.
    """
    ordered, shared = tuple(rules), Sharing()

    done: dict[int, tuple[Plan, Plan]] = {}  # with the operators themselves: an id is another's once its object is gone

    def apply_all(node: Plan) -> Plan:
        if id(node) not in done:
            result = node
            for rule in ordered:
                result = rule(result)
            done[id(node)] = node, result
        return done[id(node)][1]

    plan = shared(plan)
    for _ in range(limit):
        rewritten = shared(transform_up(plan, apply_all))
        if rewritten is plan:
            return plan
        plan = rewritten
    raise RuntimeError(f"rules do not come to rest after {limit} passes: {[rule.__name__ for rule in ordered]}")
