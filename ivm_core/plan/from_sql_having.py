"""Aggregates of a query in a subquery of its HAVING: ``HAVING EXISTS (SELECT 1 FROM u WHERE u.x > max(t.b))``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.from_sql_aggregates import has_aggregate, replace_aggregates
from ivm_core.plan.from_sql_tables import bind_from
from ivm_core.plan.nodes import column
from ivm_core.plan.scope import Scope, match_field


def take_outer_aggregates(query: exp.Select, block: Block) -> tuple[exp.Select, dict[str, exp.Expression]]:
    """The query, its HAVING with a name in place of each aggregate that belongs to this query, and what the names stand for.

    That is one in the WHERE of a subquery whose columns are all those of the query around it; as in Spark, of two columns
    that a name may mean the inner one is meant, and ``count(*)`` is the subquery's own.
    """
    taken: dict[str, exp.Expression] = {}
    if not any(has_aggregate(where.this) for where in query.args["having"].find_all(exp.Where)):
        return query, taken
    query, context = query.copy(), block.scope.context
    around = replace(block.scope, plan=block.plan)

    def name(call: exp.Expression, inner: Scope) -> exp.Expression:
        if call.find_ancestor(exp.Query) is not None or not _belongs_outside(call, inner, block.scope):
            return call
        label = context.fresh(call.key)
        taken[label] = call
        return column(label)

    for select in query.args["having"].find_all(exp.Select):
        where, above = select.args.get("where"), select.find_ancestor(exp.Select, exp.SetOperation)
        if where is None or select.args.get("with_") is not None or above is not query:
            continue
        source = bind_from(select, Scope(context, block.scope.ctes, outer=around))
        inner = replace(block.scope, fields=source.fields)
        where.set("this", replace_aggregates(where.this, partial(name, inner=inner)))
    return query, taken


def _belongs_outside(call: exp.Expression, inner: Scope, outer: Scope) -> bool:
    named = [(tuple(part.name for part in each.parts), each) for each in call.find_all(exp.Column)]
    return bool(named) and all(
        match_field(inner, parts, each) is None and match_field(outer, parts, each) is not None for parts, each in named
    )
