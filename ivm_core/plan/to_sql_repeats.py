"""Finds the subplans that a plan computes more than once and names them, for a WITH clause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields
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
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    sources,
    walk,
)
from ivm_core.plan.to_sql_names import unused

_SOURCES = ("source", "sources", "left", "right")


@dataclass(frozen=True, slots=True)
class Repeats:
    """The repeated subplans, inputs first, with their names; ``name_of`` knows every node of the plan by identity."""

    named: tuple[tuple[str, Plan], ...]
    numbers: dict[int, int]  # id of a node → number of its content
    names: dict[int, str]  # number of its content → name

    def name_of(self, plan: Plan) -> str | None:
        return self.names.get(self.numbers[id(plan)])


def find_repeats(plan: Plan, leaf_name: Callable[[Scan | Changes], str]) -> Repeats:
    """Subplans with equal content that occur under at least two parents, and do more than read and filter a leaf."""
    numbers: dict[int, int] = {}
    by_content: dict[Hashable, int] = {}
    nodes: list[Plan] = []  # by number, inputs first
    uses: Counter[int] = Counter()

    def number(node: Plan) -> int:
        if id(node) in numbers:
            return numbers[id(node)]
        inputs = tuple(number(source) for source in sources(node))
        own = tuple(getattr(node, field.name) for field in fields(node) if field.name not in _SOURCES)
        content = (type(node), own, inputs)
        if content not in by_content:
            by_content[content] = len(nodes)
            nodes.append(node)
            uses.update(inputs)
        numbers[id(node)] = by_content[content]
        return numbers[id(node)]

    number(plan)
    taken = {leaf_name(leaf).lower() for leaf in walk(plan) if isinstance(leaf, Scan | Changes)}
    names = {
        index: unused(_describe(node, leaf_name), taken)
        for index, node in enumerate(nodes)
        if uses[index] > 1 and not _is_small(node)
    }
    return Repeats(tuple((name, nodes[index]) for index, name in names.items()), numbers, names)


def _is_small(plan: Plan) -> bool:
    match plan:
        case Scan() | Changes() | Values():
            return True
        case Filter(source) | Project(source):
            return _is_small(source)
        case _:
            return False


def _describe(plan: Plan, leaf_name: Callable[[Scan | Changes], str]) -> str:
    leaves = [leaf_name(node).rpartition(".")[2] for node in walk(plan) if isinstance(node, Scan | Changes)]
    tables = "_".join(list(dict.fromkeys(leaves))[:2]) or "rows"
    return f"{tables}_{_participle(plan)}"


def _participle(plan: Plan) -> str:
    match plan:
        case Scan() | Changes() | Values():
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
        case _:
            assert_never(plan)
