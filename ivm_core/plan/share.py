"""Equal subplans as one object, so that passes over a plan visit each once: delta plans repeat parts, and parts of parts.

A delta of n nested groupings, written as a tree, has in the order of 2ⁿ operators; shared, in the order of n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import fields
from typing import get_args

from ivm_core.plan.nodes import Changes, Plan, Scan, sources
from ivm_core.plan.rewrite import transform_up

_MUCH = 100  # operators that Spark would plan again
_INPUTS = frozenset({"source", "sources", "left", "right", "base", "step"})


_OWN_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.name not in _INPUTS) for kind in get_args(Plan)
}


class Sharing:
    """Makes equal plans the same object; of plans that it returned, equality is identity."""

    def __init__(self) -> None:
        self._known: dict[tuple[Hashable, ...], Plan] = {}
        self._returned: dict[int, Plan] = {}

    def __call__(self, plan: Plan) -> Plan:
        """The plan, or the equal one that was returned before."""
        return transform_up(plan, self._one, self._returned)

    def _one(self, node: Plan) -> Plan:
        own = tuple(getattr(node, name) for name in _OWN_FIELDS[type(node)])
        # What lies below has been made one object each, and ``_known`` keeps it: ids stand for equality.
        below = tuple(id(source) for source in sources(node))
        shared = self._known.setdefault((type(node).__name__, own, below), node)
        self._returned[id(shared)] = shared
        return shared


def inputs_first(plan: Plan) -> list[Plan]:
    """The operators of a shared plan, each once, after their inputs."""
    found: list[Plan] = []

    def note(node: Plan) -> Plan:
        found.append(node)
        return node

    transform_up(plan, note)
    return found


def repeated(plan: Plan) -> list[Plan]:
    """The subplans over changes of a shared plan that are worth a step of their own, inputs first.

    Those are the largest that occur more than once, and their parts that others need too; never changes alone. Of a step's
    own parts that occur more than once those are steps that would make its plan much larger: Spark writes out what WITH
    names wherever it stands, and of n groupings within one another the innermost 2ⁿ times.
    """
    nodes = inputs_first(plan)
    uses = Counter(id(source) for node in nodes for source in sources(node))
    over_changes: dict[int, bool] = {}
    for node in nodes:
        over_changes[id(node)] = isinstance(node, Changes) or any(over_changes[id(each)] for each in sources(node))

    def can_be_step(node: Plan) -> bool:
        return over_changes[id(node)] and not isinstance(node, Changes | Scan)

    users: dict[int, set[int]] = {id(plan): set()}  # the steps that compute an operator, the plan itself being one
    found: list[Plan] = []
    for node in reversed(nodes):
        needed_by = users[id(node)]
        again = len(needed_by) > 1 or (needed_by == {id(plan)} and uses[id(node)] > 1)
        is_step = again and can_be_step(node)
        if is_step:
            found.append(node)
        for source in sources(node):
            users.setdefault(id(source), set()).update({id(node)} if is_step or node is plan else needed_by)
    steps = {id(node) for node in found}
    sizes: dict[int, int] = {}
    for node in nodes:
        size = sizes[id(node)] = 1 + sum(1 if id(each) in steps else sizes[id(each)] for each in sources(node))
        if can_be_step(node) and size * (uses[id(node)] - 1) > _MUCH:
            steps.add(id(node))
    return [node for node in nodes if id(node) in steps]
