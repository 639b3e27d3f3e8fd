"""Projections, unions and DISTINCT that lie on each other or do nothing."""

from __future__ import annotations

from collections import Counter

from sqlglot import exp

from ivm_core.plan.empty import is_empty
from ivm_core.plan.nodes import Aggregate, Distinct, Named, Plan, Project, UnionAll, keep
from ivm_core.plan.rewrite import substitute
from ivm_core.plan.types_plan import same_types, unless_retyped


def merge_projects(plan: Plan) -> Plan:
    """Project f(x) over Project x = g(y) → Project f(g(y)), unless g would be computed more than once."""
    match plan:
        case Project(Project(source, inner), outer):
            uses = Counter(c.name for named in outer for c in named.expression.find_all(exp.Column))
            if any(uses[named.name] > 1 and not _is_cheap(named.expression) for named in inner):
                return plan
            below = {named.name: named.expression for named in inner}
            return Project(source, tuple(Named(n.name, substitute(n.expression, below)) for n in outer))
    return plan


def drop_identity(plan: Plan) -> Plan:
    """Project of all columns in order → its source."""
    match plan:
        case Project(source, columns) if columns == keep(source.names):
            return source
    return plan


def flatten_unions(plan: Plan) -> Plan:
    """(A ∪ B) ∪ C → A ∪ B ∪ C, below a projection too; a union of one is that one."""
    if not isinstance(plan, UnionAll):
        return plan
    if len(plan.sources) == 1:
        return plan.sources[0]
    flat: list[Plan] = []
    for source in plan.sources:
        match source:
            case UnionAll(inner):
                flat.extend(inner)
            case Project(UnionAll(inner), columns) if same_types(inner, source.source.names):
                flat.extend(Project(each, columns) for each in inner)
            case _:
                flat.append(source)
    return unless_retyped(plan, UnionAll(tuple(flat)))


def drop_empty_branch(plan: Plan) -> Plan:
    """A ∪ σ_false(B) → A."""
    if not isinstance(plan, UnionAll):
        return plan
    live = tuple(source for source in plan.sources if not is_empty(source)) or plan.sources[:1]
    return unless_retyped(plan, UnionAll(live))


def drop_distinct_over_groups(plan: Plan) -> Plan:
    """DISTINCT over DISTINCT, or over all keys of a GROUP BY → without the outer one."""
    match plan:
        case Distinct(Distinct() as inner):
            return inner
        case Distinct(Aggregate() as groups):
            return groups
        case Distinct(Project(Aggregate(_, keys), columns) as inner):
            kept = {c.expression.name for c in columns if isinstance(c.expression, exp.Column)}
            return inner if {key.name for key in keys} <= kept else plan
    return plan


def _is_cheap(expression: exp.Expression) -> bool:
    """Not worth being computed once only: a column, a constant, or a cast of one."""
    bare = expression.this if isinstance(expression, exp.Cast) else expression
    return isinstance(bare, exp.Column | exp.Literal | exp.Null | exp.Boolean | exp.Neg)
