"""Names in generated SQL: aliases of nested SELECTs by what they do, and the names of recursions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
)
from ivm_core.plan.to_sql_names import unused
from ivm_core.plan.to_sql_repeats import Repeats


def alias_hint(plan: Plan) -> str:
    """An alias for the nested SELECT of an operator."""
    match plan:
        case Project(source) | Filter(source):
            return alias_hint(source)
        case Aggregate():
            return "grouped"
        case Distinct():
            return "distinct_rows"
        case Window():
            return "ranked"
        case Limit():
            return "limited"
        case Join():
            return "joined"
        case Generate():
            return "generated_rows"
        case UnionAll() | SetOperation():
            return "combined"
        case Scan() | Changes():
            return plan.table.rpartition(".")[2]
        case Values():
            return "listed"
        case Recursive() | Round():
            return plan.name
        case _:
            assert_never(plan)


def name_recursions(
    nodes: Iterable[Plan], leaf_name: Callable[[Scan | Changes], str], repeats: Repeats
) -> dict[int, str]:
    """Recursion, by its id → a name that is no table's that the query reads, and no other recursion's."""
    nodes = list(nodes)
    taken = {leaf_name(leaf).rpartition(".")[2].lower() for leaf in nodes if isinstance(leaf, Scan | Changes)}
    taken |= {name.lower() for name, _ in repeats.named}
    return {id(node): unused(node.name, taken) for node in nodes if isinstance(node, Recursive)}
