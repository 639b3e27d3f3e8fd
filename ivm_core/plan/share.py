"""Equal subplans as one object, so that passes over a plan visit each once: delta plans repeat parts, and parts of parts.

A delta of n nested groupings, written as a tree, has in the order of 2ⁿ operators; shared, in the order of n.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields

from ivm_core.plan.nodes import Changes, Plan, Scan, operators, sources
from ivm_core.plan.rewrite import transform_up

_INPUTS = frozenset({"source", "sources", "left", "right", "base", "step"})


class Sharing:
    """Makes equal plans the same object; of plans that it returned, equality is identity."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], Plan] = {}

    def __call__(self, plan: Plan) -> Plan:
        """The plan, or the equal one that was returned before."""
        return transform_up(plan, self._one)

    def _one(self, node: Plan) -> Plan:
        own = tuple(getattr(node, f.name) for f in fields(node) if f.name not in _INPUTS)
        # What lies below has been made one object each, and ``_known`` keeps it: ids stand for equality.
        below = tuple(id(source) for source in sources(node))
        return self._known.setdefault((type(node).__name__, own, below), node)


def inputs_first(plan: Plan) -> list[Plan]:
    """The operators of a shared plan, each once, after their inputs."""
    found: list[Plan] = []

    def note(node: Plan) -> Plan:
        found.append(node)
        return node

    transform_up(plan, note)
    return found


def occurrences(plan: Plan) -> dict[int, int]:
    """How often each operator of a shared plan, by its id, occurs in the plan written as a tree."""
    nodes = inputs_first(plan)
    found = dict.fromkeys(map(id, nodes), 0)
    found[id(plan)] = 1
    for node in reversed(nodes):
        for source in sources(node):
            found[id(source)] += found[id(node)]
    return found


def repeated(plan: Plan) -> list[Plan]:
    """The largest subplans over changes that occur more than once in a shared plan, changes themselves aside."""
    counts = occurrences(plan)
    candidates = [node for node in operators(plan) if not isinstance(node, Changes | Scan) and counts[id(node)] > 1]
    found = {id(node): node for node in candidates if any(isinstance(below, Changes) for below in operators(node))}
    # A part of a repeated subplan is itself worth a step only where it also occurs outside of it.
    inner = {id(below) for node in found.values() for below in operators(node) if below is not node}
    return [node for key, node in found.items() if key not in inner]
