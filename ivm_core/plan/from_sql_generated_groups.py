"""A generator in a grouped SELECT, ``SELECT s, explode(collect_list(a)) FROM t GROUP BY s``: groups, then the rows of each."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.from_sql_aggregates import has_aggregate
from ivm_core.plan.functions import is_generator
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.scope import Cte, Scope, refusal
from ivm_core.plan.spark_names import spark_name

_GROUPS = "#groups"
_ABOVE = ("order", "limit", "offset", "distinct")


def generate_over_groups(select: exp.Select, scope: Scope) -> tuple[exp.Select, Scope]:
    """``SELECT s, explode(collect_list(a)) AS e … GROUP BY s LIMIT 1`` → ``SELECT s, explode(l) AS e FROM (SELECT s,
    collect_list(a) AS l … GROUP BY s) LIMIT 1``; any other SELECT as it is. Also returns the scope that sees the groups.
    """
    items = select.expressions
    places = [place for place, item in enumerate(items) if is_generator(_call(item))]
    grouped = select.args.get("group") is not None or select.args.get("having") is not None
    if not places or not (grouped or any(has_aggregate(item) for item in items)):
        return select, scope
    place = places[0]
    call = _call(items[place]).copy()
    arguments = [part for part in call.iter_expressions() if part.find(exp.Column, exp.Query) or has_aggregate(part)]
    _check(select, call, places, arguments)
    # The place of the generator is that of its first argument, so that GROUP BY 2 names the same as before.
    columns = [item.copy() for item in items]
    columns[place] = arguments[0].copy() if arguments else exp.Literal.number(1)
    columns.extend(part.copy() for part in arguments[1:])
    names = tuple(f"#{number}" for number in range(len(columns)))
    for name, argument in zip((names[place], *names[len(items) :]), arguments, strict=False):
        argument.replace(_column(name))
    shown = [
        _with_names(item, call) if item is items[place] else exp.alias_(_column(name), _label(item), quoted=True)
        for name, item in zip(names, items, strict=False)
    ]
    groups, rows = select.copy(), exp.Select(expressions=shown, from_=exp.From(this=exp.to_table(_GROUPS)))
    groups.set("expressions", columns)
    groups.set("with_", None)
    for clause in _ABOVE:
        groups.set(clause, None)
        if select.args.get(clause) is not None:
            rows.set(clause, select.args[clause].copy())
    return rows, replace(scope, ctes={**scope.ctes, _GROUPS: Cte(groups, names, scope)})


def _check(select: exp.Select, call: exp.Expr, places: list[int], arguments: list[exp.Expr]) -> None:
    """Raise UnsupportedConstruct for what Spark does not run, or of which it is not certain whether it sees groups or rows."""
    group, order = select.args.get("group"), select.args.get("order")
    if len(places) > 1:
        raise refusal("more than one generator in a grouped SELECT", call, "Use LATERAL VIEW.")
    beside = [*select.expressions, *([order] if order is not None else [])]
    if select.args.get("qualify") is not None or any(part.find(exp.Window) for part in beside):
        raise refusal("a window function beside a generator in a grouped SELECT", call, "Use LATERAL VIEW.")
    if order is not None and has_aggregate(order):
        raise refusal("ORDER BY an aggregate beside a generator", order, "Select it in a subquery.")
    by_all = group is not None and group.args.get("all") and not all(has_aggregate(part) for part in arguments)
    if by_all or any(item.is_star and isinstance(item, exp.Star | exp.Column) for item in select.expressions):
        raise refusal("GROUP BY ALL or a star beside a generator", call, "List the columns.")


def _call(item: exp.Expr) -> exp.Expr:
    return expect_expression(item.this) if isinstance(item, exp.Aliases) else item.unalias()


def _label(item: exp.Expr) -> str:
    """The item's own name, or the one that Spark gives it."""
    name = item.alias_or_name if isinstance(item, exp.Alias | exp.Column | exp.Dot) else spark_name(item)
    if not name:
        raise refusal(
            "an item without an alias beside a generator in a grouped SELECT", item, "Give it one: … AS name."
        )
    return name


def _with_names(item: exp.Expr, call: exp.Expr) -> exp.Expr:
    """The call with the names that the item gives to its columns."""
    if isinstance(item, exp.Aliases | exp.Alias):
        named = item.copy()
        named.set("this", call)
        return named
    return call


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(_GROUPS, quoted=True))
