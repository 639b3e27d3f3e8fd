"""Finds the subplans that a plan computes more than once and names them, for a WITH clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
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
    operators,
    sources,
)
from ivm_core.plan.share import inputs_first
from ivm_core.plan.to_sql_names import unused


@dataclass(frozen=True, slots=True)
class Repeats:
    """The repeated subplans of a shared plan, inputs first, with their names."""

    named: tuple[tuple[str, Plan], ...]
    names: dict[int, str]  # id of a repeated subplan → name

    def name_of(self, plan: Plan) -> str | None:
        return self.names.get(id(plan))


def find_repeats(plan: Plan, leaf_name: Callable[[Scan | Changes], str]) -> Repeats:
    """Subplans of a shared plan that occur under at least two parents, and do more than read and filter a leaf."""
    nodes = inputs_first(plan)
    uses = Counter(id(source) for node in nodes for source in sources(node))
    taken = {leaf_name(leaf).lower() for leaf in nodes if isinstance(leaf, Scan | Changes)}
    named = tuple(
        (unused(_describe(node, leaf_name), taken), node)
        for node in nodes
        if uses[id(node)] > 1 and not _is_small(node) and not _is_open(node)
    )
    return Repeats(named, {id(node): name for name, node in named})


def _is_open(plan: Plan) -> bool:
    """Whether the plan reads the rounds of a recursion around it, and has no meaning outside of that."""
    nodes = list(operators(plan))
    closed = {node.name for node in nodes if isinstance(node, Recursive)}
    return any(isinstance(node, Round) and node.name not in closed for node in nodes)


def _is_small(plan: Plan) -> bool:
    match plan:
        case Scan() | Changes() | Values() | Round() | Recursive():  # a recursion is a WITH item anyway
            return True
        case Filter(source) | Project(source):
            return _is_small(source)
        case _:
            return False


def _describe(plan: Plan, leaf_name: Callable[[Scan | Changes], str]) -> str:
    leaves = [leaf_name(node).rpartition(".")[2] for node in operators(plan) if isinstance(node, Scan | Changes)]
    tables = "_".join(list(dict.fromkeys(leaves))[:2]) or "rows"
    return f"{tables}_{_participle(plan)}"


def _participle(plan: Plan) -> str:
    match plan:
        case Scan() | Changes() | Values() | Round():
            return "read"
        case Filter(source) | Project(source):
            return _participle(source)
        case Join():
            return "joined"
        case Aggregate():
            return "grouped"
        case Distinct():
            return "distinct"
        case UnionAll() | SetOperation():
            return "combined"
        case Window():
            return "ranked"
        case Generate():
            return "generated"
        case Limit():
            return "limited"
        case Recursive():
            return "reached"
        case _:
            assert_never(plan)
