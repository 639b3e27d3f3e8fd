"""Projections and filters that lie on each other, and projections that keep joins apart."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, JoinKind, Named, Plan, Project, keep
from ivm_core.plan.rewrite import both, substitute


def merge_projects(plan: Plan) -> Plan:
    """Project f(x) over Project x = g(y) → Project f(g(y)), unless g would be computed more than once."""
    match plan:
        case Project(Project(source, inner), outer):
            uses = Counter(c.name for named in outer for c in named.expression.find_all(exp.Column))
            if any(uses[named.name] > 1 and not _is_trivial(named.expression) for named in inner):
                return plan
            below = {named.name: named.expression for named in inner}
            return Project(source, tuple(Named(n.name, substitute(n.expression, below)) for n in outer))
        case _:
            return plan


def drop_identity(plan: Plan) -> Plan:
    """Project of all columns in order → its source."""
    match plan:
        case Project(source, columns) if plan.names == source.names and columns == keep(source.names):
            return source
        case _:
            return plan


def merge_filters(plan: Plan) -> Plan:
    """Filter b over Filter a → Filter (a AND b)."""
    match plan:
        case Filter(Filter(source, inner), outer):
            condition = both(inner, outer)
            assert condition is not None
            return Filter(source, condition)
        case _:
            return plan


def pull_up_project(plan: Plan) -> Plan:
    """Project(A ⋈ B) ⋈ C → Project(A ⋈ B ⋈ C), so that the joins are one chain that can be reordered."""
    match plan:
        case Join(Project(source, columns), right, JoinKind.INNER, condition) if _in_chain(source, right):
            below = {named.name: named.expression for named in columns}
            joined = Join(source, right, JoinKind.INNER, None if condition is None else substitute(condition, below))
            return Project(joined, (*columns, *keep(right.names)))
        case Join(left, Project(source, columns), JoinKind.INNER, condition) if _in_chain(source, left):
            below = {named.name: named.expression for named in columns}
            joined = Join(left, source, JoinKind.INNER, None if condition is None else substitute(condition, below))
            return Project(joined, (*keep(left.names), *columns))
        case _:
            return plan


def _in_chain(source: Plan, other: Plan) -> bool:
    """True where the source is a chain of joins whose columns cannot be mistaken for the other side's."""
    while isinstance(source, Filter):
        source = source.source
    apart = {name.lower() for name in source.names}.isdisjoint(name.lower() for name in other.names)
    return isinstance(source, Join) and source.kind is JoinKind.INNER and apart


def _is_trivial(expression: exp.Expression) -> bool:
    bare = expression.this if isinstance(expression, exp.Cast) else expression
    return isinstance(bare, exp.Column | exp.Literal | exp.Null | exp.Boolean | exp.Neg)
