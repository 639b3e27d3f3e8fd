"""LATERAL (SELECT …): a subquery for each row of what stands before it, as a join."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.from_sql_aggregates import has_aggregate
from ivm_core.plan.functions import is_generator
from ivm_core.plan.nodes import Join, JoinKind, Named, Plan, Project, keep
from ivm_core.plan.rewrite import both
from ivm_core.plan.scope import Relation, Scope
from ivm_core.plan.subqueries import check_reach

# The clauses of a SELECT that look at more rows than one.
_WHOLE = ("with_", "group", "having", "qualify", "distinct", "limit", "offset", "windows")


def join_lateral(
    left: Relation, query: exp.Expr, scope: Scope, kind: JoinKind, qualifier: tuple[str, ...], labels: tuple[str, ...]
) -> Relation:
    """LATERAL (SELECT …): the subquery's correlated conditions become the join's.

    A subquery that only joins, filters and computes is one over the rows of the left side itself.
    """
    if isinstance(query, exp.Subquery) and isinstance(query.this, exp.Select) and query.this == query.unnest():
        query = query.this
    around = Scope(scope.context, scope.ctes, outer=replace(scope, plan=left.plan))
    if _is_row_wise(query, kind):
        inner = scope.context.bind(query, replace(around, beside=left.plan))
        fields = (*left.fields, *inner.qualified(qualifier, labels))
        return Relation(inner.plan, fields, (*left.correlated, *inner.correlated))
    inner = scope.context.bind(query, around)
    if inner.values:
        kind = JoinKind.LEFT
    condition = both(*inner.correlated)
    check_reach(condition, left.plan, inner.plan, query)
    plan: Plan = Join(left.plan, inner.plan, kind, condition)
    fields = inner.qualified(qualifier, labels)
    if inner.values:
        computed = tuple(
            Named(scope.context.fresh(f.label, *qualifier), v) for f, v in zip(fields, inner.values, strict=True)
        )
        plan = Project(plan, (*keep(left.plan.names), *computed))
        fields = tuple(replace(f, name=item.name) for f, item in zip(fields, computed, strict=True))
    return Relation(plan, (*left.fields, *fields), left.correlated)


def _is_row_wise(query: exp.Expr, kind: JoinKind) -> bool:
    """Whether LATERAL needs no more than the left side's rows joined with the subquery's tables."""
    if not isinstance(query, exp.Select) or any(query.args.get(part) for part in _WHOLE):
        return False
    if any(item.find(exp.AggFunc, exp.Window) or has_aggregate(item) for item in query.expressions):
        return False
    # A subquery without FROM and WHERE has one row, so that LEFT JOIN means nothing more.
    plain = query.args.get("from_") is None and query.args.get("where") is None
    return kind == JoinKind.INNER or (plain and not any(is_generator(i) for e in query.expressions for i in e.walk()))
