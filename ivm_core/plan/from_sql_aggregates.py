"""Aggregate calls: which functions they are, and one spelling for FILTER, count and their aliases."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ivm_core.plan.choices import COLLECTED
from ivm_core.plan.functions import sql_name
from ivm_core.plan.rewrite import as_operand, both, condition_and_value, expect_expression, value_where
from ivm_core.plan.scope import refusal

# Aggregate functions of Spark that sqlglot reads as functions it does not know.
ANONYMOUS = frozenset(
    [
        "every",
        "some",
        "any_value",
        "bool_and",
        "bool_or",
        "approx_percentile",
        "bitmap_construct_agg",
        "bitmap_or_agg",
        "bitmap_and_agg",
        "count_min_sketch",
        "histogram_numeric",
        "hll_sketch_agg",
        "hll_union_agg",
        "kurtosis",
        "max_by",
        "mean",
        "min_by",
        "mean",
        "percentile",
        "percentile_cont",
        "percentile_disc",
        "regr_avgx",
        "regr_avgy",
        "regr_count",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy",
        "schema_of_variant_agg",
        "skewness",
        "string_agg",
        "theta_sketch_agg",
        "theta_union_agg",
        "theta_intersection_agg",
        "tuple_intersection_agg_double",
        "tuple_intersection_agg_integer",
        "tuple_sketch_agg_double",
        "tuple_sketch_agg_integer",
        "tuple_union_agg_double",
        "tuple_union_agg_integer",
        "vector_avg",
        "vector_sum",
        "try_avg",
        "try_sum",
        "median",
        "mode",
        "std",
        "stddev_samp",
        "var_samp",
        "grouping",
        "grouping_id",
    ]
)
MODIFIERS = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)
# These see NULL arguments, so that a filter cannot be expressed by NULLs.
_SEE_NULLS = (exp.First, exp.Last, exp.FirstValue, exp.LastValue, exp.AnyValue)
_COUNT_NULLS = (exp.ApproxTopK, exp.ApproxTopKAccumulate, exp.ApproxTopKCombine)
_BITMAP_OF_NOTHING = {"bitmap_construct_agg": "00", "bitmap_or_agg": "00", "bitmap_and_agg": "FF"}  # 4,096 bytes
_COUNT_OF_NOTHING = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RegrCount)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate call (or a modifier around one); window functions are for the caller to except."""
    if isinstance(node, MODIFIERS):
        return is_aggregate(node.this)
    if isinstance(node, exp.Any):
        patterns = isinstance(node.parent, exp.Like | exp.ILike) and node.arg_key == "expression"
        return isinstance(node.this, exp.Paren) and not patterns
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in ANONYMOUS
    return isinstance(node, exp.AggFunc | exp.LogicalAnd | exp.LogicalOr | exp.Grouping | exp.GroupingId)


def replace_aggregates(expression: exp.Expr, handle: Callable[[exp.Expression], exp.Expression]) -> exp.Expression:
    """A copy in which ``handle`` replaced each aggregate call, but not the functions that windows are made of."""
    tree = expression.copy()
    heads = {id(head) for window in tree.find_all(exp.Window) for head in _heads(window)}

    def swap(node: exp.Expr) -> exp.Expr:
        if id(node) in heads or not is_aggregate(node):
            return node
        return handle(expect_expression(node))

    return expect_expression(tree.transform(swap, copy=False))


def has_aggregate(expression: exp.Expr) -> bool:
    """Whether the expression, subqueries excepted, makes its SELECT an aggregate."""
    heads = {id(head) for window in expression.find_all(exp.Window) for head in _heads(window)}
    return any(
        is_aggregate(node) and id(node) not in heads
        for node in expression.walk(prune=lambda node: isinstance(node, exp.Query) and node is not expression)
        if not isinstance(node, exp.Query)
    )


def spell_aggregate(call: exp.Expression) -> exp.Expression:
    """One call without FILTER: ``sum(x) FILTER (WHERE p)`` → ``sum(CASE WHEN p THEN x END)``, ``count(1)`` → ``count(*)``.

    ``first(CASE WHEN p THEN x END) RESPECT NULLS`` stands for ``first(x) FILTER (WHERE p)``, until ``choices`` takes a row.
    """
    if isinstance(call, exp.RespectNulls) and isinstance(call.find(exp.AggFunc), COLLECTED):
        instead = "Write transform(collect_list(struct(x AS v)), s -> s.v): a struct is no NULL."
        raise refusal("RESPECT NULLS of a list", call, instead)
    if isinstance(call, exp.IgnoreNulls) and isinstance(call.find(exp.AggFunc), COLLECTED):
        return spell_aggregate(expect_expression(call.this))  # as they do without
    if isinstance(call, exp.IgnoreNulls) and isinstance(call.this, exp.Filter):
        return _filtered(exp.IgnoreNulls(this=call.this.this), call.this.expression.this)
    if isinstance(call, exp.RespectNulls) and isinstance(call.this, (exp.Filter, *_SEE_NULLS)):
        return spell_aggregate(expect_expression(call.this))
    if isinstance(call, exp.Filter):
        return _filtered(spell_aggregate(expect_expression(call.this)), call.expression.this)
    if isinstance(call, exp.Any):
        return exp.LogicalOr(this=call.this.unnest())
    if isinstance(call, exp.Anonymous):
        match str(call.this).lower():
            case "every" | "bool_and":
                return exp.LogicalAnd(this=call.expressions[0])
            case "some" | "bool_or":
                return exp.LogicalOr(this=call.expressions[0])
            case "mean":
                return exp.Avg(this=call.expressions[0])
            case "std":
                return exp.Stddev(this=call.expressions[0])
    if isinstance(call, exp.WithinGroup):
        return _within_group(call)
    if isinstance(call, exp.Count):
        return _count(call)
    return call


def empty_value(call: exp.Expr, name: exp.Expression) -> exp.Expression:
    """The aggregate's column after an outer join that may have found no group: what the call gives for no rows."""
    if isinstance(call, _COUNT_OF_NOTHING):
        return exp.Coalesce(this=name, expressions=[exp.cast(exp.Literal.number(0), "bigint", dialect="spark")])
    if isinstance(call, COLLECTED):
        return exp.Coalesce(this=name, expressions=[exp.Array(expressions=[])])
    if (byte := _BITMAP_OF_NOTHING.get(sql_name(call))) is not None:
        bits = exp.Repeat(this=exp.Literal.string(byte), times=exp.Literal.number(4096))
        return exp.Coalesce(this=name, expressions=[exp.Unhex(this=bits)])
    if sql_name(call) == "count_min_sketch":
        raise refusal(
            "count_min_sketch() in a correlated subquery without GROUP BY", call, "Join a query with GROUP BY."
        )
    return name


def _heads(window: exp.Window) -> list[exp.Expr]:
    """The window's own function, with the modifiers around it."""
    found = [window.this]
    while isinstance(found[-1], MODIFIERS):
        found.append(found[-1].this)
    return found


def _count(call: exp.Count) -> exp.Expression:
    first = call.this
    if isinstance(first, exp.Distinct):
        if first.find(exp.Star):
            raise refusal("count(DISTINCT *)", call, "List the columns.")
        return call
    if call.expressions:
        present = [
            exp.Not(this=exp.Is(this=as_operand(argument), expression=exp.null()))
            for argument in (first, *call.expressions)
        ]
        return exp.Count(this=value_where(exp.and_(*present), exp.Literal.number(1)), big_int=True)
    if isinstance(first, exp.Literal) or first is None:
        return exp.Count(this=exp.Star(), big_int=True)
    return call


def _filtered(call: exp.Expression, condition: exp.Expr) -> exp.Expression:
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return exp.Count(this=value_where(condition, exp.Literal.number(1)), big_int=True)
    if isinstance(call, (exp.AnonymousAggFunc, *_COUNT_NULLS)):  # users' own may count NULLs, too
        raise refusal(f"{sql_name(call)}() with FILTER", call, "Filter in a subquery.")
    if isinstance(call, _SEE_NULLS):
        value = call.this.expressions[0] if isinstance(call.this, exp.Distinct) else call.this
        return exp.RespectNulls(this=type(call)(this=value_where(condition, value)))
    if isinstance(call, exp.RespectNulls):  # such a call, filtered again by PIVOT
        before, value = condition_and_value(call.this.this)
        return exp.RespectNulls(this=type(call.this)(this=value_where(_and(before, condition), value)))
    result = call.copy()
    if isinstance(result, exp.IgnoreNulls):
        result.this.set("this", value_where(condition, result.this.this))
        return result
    if isinstance(result, exp.WithinGroup):
        ordered = result.expression.expressions[0]
        ordered.set("this", value_where(condition, ordered.this))
        return result
    if isinstance(result, exp.ArgMax | exp.ArgMin):
        result.set("expression", value_where(condition, result.expression))
        return result
    if sql_name(result) in ("max_by", "min_by"):  # of several rows: the first argument may be NULL
        value, key, *rest = result.expressions
        result.set("expressions", [value, value_where(condition, key), *rest])
        return result
    if isinstance(result, exp.Anonymous):
        result.set("expressions", [value_where(condition, result.expressions[0]), *result.expressions[1:]])
        return result
    target = result.this
    while isinstance(target, exp.Order):  # listagg(x) WITHIN GROUP (ORDER BY …)
        result, target = target, target.this
    if isinstance(target, exp.Distinct):
        target.set("expressions", [value_where(condition, target.expressions[0]), *target.expressions[1:]])
    else:
        result.set("this", value_where(condition, target))
    return expect_expression(result.root())


def _and(one: exp.Expr, other: exp.Expr) -> exp.Expression:
    combined = both(one, other)
    assert combined is not None
    return combined


def _within_group(call: exp.WithinGroup) -> exp.Expression:
    """``percentile_cont(p) WITHIN GROUP (ORDER BY x)`` is Spark's ``percentile(x, p)``; others stay as they are."""
    order = call.expression.expressions
    name = sql_name(call.this)
    if name not in ("percentile_cont", "percentile_disc", "mode") or len(order) != 1:
        raise refusal(f"{name}() WITHIN GROUP", call, "Use percentile(x, p).")
    if name == "percentile_cont" and not order[0].args.get("desc"):
        return exp.Quantile(this=order[0].this, quantile=call.this.expressions[0])
    return call
