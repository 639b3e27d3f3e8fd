"""What must hold of every delta plan; anything else is a defect of this package and raises."""

from __future__ import annotations

from collections import Counter

from ivm_core.delta.linearity import is_linear
from ivm_core.plan.join_chain import join_chain
from ivm_core.plan.nodes import WEIGHT, At, Changes, Plan, Scan, references, sources, walk


class WrongDeltaError(AssertionError):
    """A delta plan breaks an invariant."""


def check_delta(plan: Plan, query: Plan) -> None:
    """Raise WrongDeltaError unless ``plan`` can be a delta of ``query``.

    It has the query's columns and then one weight; it reads base tables before and after the batch only; where the
    query has no cartesian product it has none; and where the query is linear, it has at most one term for each scan.
    """
    _require(plan.names == (*query.names, WEIGHT), f"columns {plan.names} are not those of the query and a weight")
    for node in walk(plan):
        _require(not (isinstance(node, Scan) and node.at is At.NOW), "a scan is neither before nor after the batch")
    if not has_product(query):
        _require(not has_product(plan), "a cartesian product that the query does not have")
    if is_linear(query):
        scans = Counter(node.table for node in walk(query) if isinstance(node, Scan))
        terms = Counter(node.table for node in walk(plan) if isinstance(node, Changes))
        _require(terms <= scans, "more terms than inputs")


def has_product(plan: Plan) -> bool:
    """True where some chain of inner joins has inputs that no condition links, directly or over others.

    The operands of a chain are looked into as well.
    """
    inputs, conditions = join_chain(plan)
    if len(inputs) == 1:
        return any(has_product(source) for source in sources(plan))
    linked = _connected([frozenset(source.names) for source in inputs], [references(c) for c in conditions])
    return not linked or any(has_product(source) for source in inputs)


def _connected(groups: list[frozenset[str]], links: list[frozenset[str]]) -> bool:
    """True where the links join all groups of names into one."""
    reached, rest = set(groups[0]), groups[1:]
    while rest:
        near = [g for g in rest if any(link & g and link & reached for link in links)]
        if not near:
            return False
        reached.update(*near)
        rest = [g for g in rest if g not in near]
    return True


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise WrongDeltaError(message)
