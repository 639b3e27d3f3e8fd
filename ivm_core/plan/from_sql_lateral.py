"""LATERAL (SELECT …): a subquery for each row of what stands before it, as a join."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import UnsupportedConstruct
from ivm_core.plan.correlation import with_own_rows
from ivm_core.plan.from_sql_aggregates import has_aggregate
from ivm_core.plan.from_sql_on import join_subqueries
from ivm_core.plan.functions import is_generator
from ivm_core.plan.nodes import Distinct, Filter, Join, JoinKind, Named, Plan, Project, column, keep
from ivm_core.plan.rewrite import both, value_where, without_parentheses
from ivm_core.plan.scope import Relation, Scope, refusal, resolve
from ivm_core.plan.subqueries import check_reach

# The clauses of a SELECT that look at more rows than one; the last three do so for each value of its outer columns too.
_WHOLE = ("with_", "qualify", "limit", "offset", "windows", "group", "having", "distinct")


def join_lateral(
    left: Relation,
    query: exp.Expr,
    scope: Scope,
    kind: JoinKind,
    qualifier: tuple[str, ...],
    labels: tuple[str, ...],
    on: exp.Expr | None = None,
) -> Relation:
    """LATERAL (SELECT …): the subquery's correlated conditions become the join's.

    A subquery that only joins, filters and computes is one over the rows of the left side itself. ``on``: the condition
    of a LEFT JOIN.
    """
    query = without_parentheses(query)
    try:
        return _join_by_conditions(left, query, scope, kind, qualifier, labels, on)
    except UnsupportedConstruct:
        if not _is_row_wise(query, JoinKind.INNER, _WHOLE[:-3]):
            raise
        return _join_by_values(left, query, scope, kind, qualifier, labels, on)


def _join_by_conditions(
    left: Relation,
    query: exp.Expr,
    scope: Scope,
    kind: JoinKind,
    qualifier: tuple[str, ...],
    labels: tuple[str, ...],
    on: exp.Expr | None,
) -> Relation:
    around = Scope(scope.context, scope.ctes, outer=replace(scope, plan=left.plan))
    if _is_row_wise(query, kind) and on is None:
        inner = scope.context.bind(query, replace(around, beside=left.plan))
        fields = (*left.fields, *inner.qualified(qualifier, labels))
        return Relation(inner.plan, fields, (*left.correlated, *inner.correlated))
    inner = scope.context.bind(query, around)
    if on is not None:
        inner = with_own_rows(inner, around)
    required = inner.having if kind == JoinKind.INNER else None
    if inner.values:
        kind = JoinKind.LEFT
    fields = inner.qualified(qualifier, labels)
    condition = both(*inner.correlated)
    check_reach(condition, left.plan, inner.plan, query)
    plan = _join(left.plan, inner.plan, kind, condition, on, replace(scope, fields=(*left.fields, *fields)))
    if required is not None:
        plan = Filter(plan, required)
    if inner.values:
        whole = inner.having if required is None else None
        values = inner.values if whole is None else tuple(value_where(whole, value) for value in inner.values)
        computed = tuple(
            Named(scope.context.fresh(f.label, *qualifier), v) for f, v in zip(fields, values, strict=True)
        )
        plan = Project(plan, (*keep(left.plan.names), *computed))
        fields = tuple(replace(f, name=item.name) for f, item in zip(fields, computed, strict=True))
    return Relation(plan, (*left.fields, *fields), left.correlated)


def _join_by_values(
    left: Relation,
    query: exp.Expr,
    scope: Scope,
    kind: JoinKind,
    qualifier: tuple[str, ...],
    labels: tuple[str, ...],
    on: exp.Expr | None,
) -> Relation:
    """The subquery over the distinct values of the outer columns that it may name, joined by these: Neumann and Kemper,
    "Unnesting Arbitrary Queries" (2015), section 3.2."""
    context = scope.context
    named = {part.name.lower() for found in query.find_all(exp.Column) for part in found.parts}
    used = [f for f in left.fields if f.label.lower() in named and f.name in left.plan.names]
    values = {f.name: context.fresh(f.label, *f.qualifier[-1:]) for f in used}
    domain = Distinct(Project(left.plan, tuple(Named(value, column(name)) for name, value in values.items())))
    outer = replace(scope, fields=tuple(replace(f, name=values[f.name]) for f in used), plan=domain)
    inner = context.bind(query, Scope(context, scope.ctes, outer=outer, beside=domain))
    if inner.correlated:
        raise refusal("a subquery that refers past the query around it", query, "Join the tables instead.")
    fields = (*left.fields, *inner.qualified(qualifier, labels))
    pairs = [exp.NullSafeEQ(this=column(name), expression=column(value)) for name, value in values.items()]
    plan = _join(left.plan, inner.plan, kind, both(*pairs), on, replace(scope, fields=fields))
    return Relation(plan, fields, left.correlated)


def _join(
    left: Plan, right: Plan, kind: JoinKind, condition: exp.Expression | None, on: exp.Expr | None, scope: Scope
) -> Plan:
    """The join by the subquery's conditions and those of ON, which sees both sides."""
    if on is None:
        return Join(left, right, kind, condition)
    left, right, asked = join_subqueries(left, right, kind, resolve(on, scope), scope, on)
    return Join(left, right, kind, both(condition, asked))


def _is_row_wise(query: exp.Expr, kind: JoinKind, whole: tuple[str, ...] = _WHOLE) -> bool:
    """Whether LATERAL needs no more than the left side's rows joined with the subquery's tables."""
    if not isinstance(query, exp.Select) or any(query.args.get(part) for part in whole):
        return False
    if any(join.side in ("RIGHT", "FULL") or join.args.get("pivots") for join in query.args.get("joins") or ()):
        return False  # the left side's columns would become NULL, or be left out
    if any(item.find(exp.AggFunc, exp.Window) or has_aggregate(item) for item in query.expressions):
        return query.args.get("group") is not None and "group" not in whole
    # A subquery without FROM and WHERE has one row, so that LEFT JOIN means nothing more.
    plain = query.args.get("from_") is None and query.args.get("where") is None
    return kind == JoinKind.INNER or (plain and not any(is_generator(i) for e in query.expressions for i in e.walk()))
