"""Which columns of which base tables a query sets equal: what the changes of one tell of the rows needed of another."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, Plan, Scan, walk
from ivm_core.plan.rewrite import conjuncts


@dataclass(frozen=True, slots=True, order=True)
class JoinEdge:
    """Rows of ``table`` meet rows of ``other`` only where their ``columns`` are equal, pair by pair; names as stored."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


def join_edges(plan: Plan) -> tuple[JoinEdge, ...]:
    """The edges between the plan's scans, each in both directions, sorted. Other conditions than ``a = b`` make none."""
    origin: dict[str, tuple[Scan, str]] = {}
    for node in walk(plan):
        if isinstance(node, Scan):
            origin |= {column.name: (node, column.source.lower()) for column in node.columns}
    pairs: dict[tuple[Scan, Scan], set[tuple[str, str]]] = {}
    for condition in _conditions(plan):
        if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
            continue
        ends = [origin.get(end.name) for end in (condition.this, condition.expression) if isinstance(end, exp.Column)]
        if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0][0] == ends[1][0]:
            continue
        for (scan, name), (other, other_name) in (ends, reversed(ends)):  # type: ignore[misc]
            pairs.setdefault((scan, other), set()).add((name, other_name))
    edges = set()
    for (scan, other), columns in pairs.items():
        ordered = sorted(columns)
        edges.add(JoinEdge(scan.table, tuple(a for a, _ in ordered), other.table, tuple(b for _, b in ordered)))
    return tuple(sorted(edges))


def _conditions(plan: Plan) -> list[exp.Expression]:
    found: list[exp.Expression] = []
    for node in walk(plan):
        if isinstance(node, Join | Filter):
            found += conjuncts(node.condition)
    return found
