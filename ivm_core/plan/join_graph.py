"""Which columns a query sets equal: between two inputs of a join, and between the base tables below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, Plan, Scan, column, walk
from ivm_core.plan.rewrite import conjuncts


@dataclass(frozen=True, slots=True, order=True)
class JoinEdge:
    """Rows of ``table`` meet rows of ``other`` only where their ``columns`` are equal, pair by pair; names as stored."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


def equal_columns(condition: exp.Expr | None, one: Plan, other: Plan) -> Iterator[tuple[str, str, bool]]:
    """Pairs of a column of ``one`` and a column of ``other`` that are made equal, and whether NULL equals NULL."""
    for a, b, null_safe in _pairs(condition):
        if a in one.names and b in other.names:
            yield a, b, null_safe


def equality(name: str, other: str, *, null_safe: bool) -> exp.EQ | exp.NullSafeEQ:
    """``name = other`` of two columns, or ``IS NOT DISTINCT FROM``."""
    return (exp.NullSafeEQ if null_safe else exp.EQ)(this=column(name), expression=column(other))


def join_edges(plan: Plan) -> tuple[JoinEdge, ...]:
    """The edges between the plan's scans, each in both directions, sorted. Other conditions than ``a = b`` make none."""
    origin: dict[str, tuple[Scan, str]] = {}
    for node in walk(plan):
        if isinstance(node, Scan):
            origin |= {column.name: (node, column.source.lower()) for column in node.columns}
    pairs: dict[tuple[Scan, Scan], set[tuple[str, str]]] = {}
    for node in walk(plan):
        for a, b, _ in _pairs(node.condition) if isinstance(node, Join | Filter) else ():
            if a in origin and b in origin and origin[a][0] != origin[b][0]:
                (scan, name), (other, other_name) = origin[a], origin[b]
                pairs.setdefault((scan, other), set()).add((name, other_name))
    edges = set()
    for (scan, other), columns in pairs.items():
        names, other_names = zip(*sorted(columns), strict=True)
        edges.add(JoinEdge(scan.table, names, other.table, other_names))
    return tuple(sorted(edges))


def _pairs(condition: exp.Expr | None) -> Iterator[tuple[str, str, bool]]:
    """The columns of every conjunct that sets two equal, in both orders, and whether NULL equals NULL."""
    for part in conjuncts(condition):
        if isinstance(part, exp.EQ | exp.NullSafeEQ):
            a, b = part.this, part.expression
            if isinstance(a, exp.Column) and isinstance(b, exp.Column):
                null_safe = isinstance(part, exp.NullSafeEQ)
                yield a.name, b.name, null_safe
                yield b.name, a.name, null_safe
