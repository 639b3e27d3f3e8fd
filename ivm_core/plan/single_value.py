"""A scalar subquery that may return several rows: grouped to one row, whose value fails where there were more."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.correlation import group_by_correlation, sides_of
from ivm_core.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    column,
    keep,
    references,
)
from ivm_core.plan.raising import raise_error
from ivm_core.plan.rewrite import both
from ivm_core.plan.scope import Relation, Scope

_TOO_MANY = "A scalar subquery returned more than one row"
_ADVICE = ": make its rows unique, or use an aggregate such as max()."


def join_single_value(block: Block, inner: Relation) -> exp.Expression:
    """Join the one value that the subquery has for each row of the block's plan, NULL where it has none; return its column.

    Without correlation the value is computed once, and fails whatever the rows around it, as in Spark; with it, only
    where a row of the block meets several rows.
    """
    scope = block.scope
    keyed = _is_keyed(inner, block.plan)
    if keyed:
        conditions, plan = inner.correlated, inner.plan
        value = scope.context.value_of(plan, inner.fields[0].name)
    else:
        groups = Block(Scope(scope.context, scope.ctes, outer=replace(scope, plan=block.plan)), inner.plan)
        groups.correlated = list(inner.correlated)
        keys: list[Named] = []
        group_by_correlation(groups, keys)
        found, count = scope.context.fresh("value"), scope.context.fresh("count")
        counted = (
            Named(found, exp.AnyValue(this=column(inner.fields[0].name))),
            Named(count, exp.Count(this=exp.Star(), big_int=True)),
        )
        plan, conditions = Aggregate(groups.plan, tuple(keys), counted), tuple(groups.correlated)
        several = exp.GT(this=column(count), expression=exp.Literal.number(1))
        failure = raise_error(_message(block, conditions))
        value = exp.Case(ifs=[exp.If(this=several, true=failure)], default=column(found))
    name = scope.context.fresh(scope.context.hints[inner.fields[0].name][0])
    if not conditions:
        block.plan = Join(block.plan, Project(plan, (Named(name, value),)))
        return column(name)
    names = block.plan.names
    block.plan = Join(block.plan, plan, JoinKind.LEFT, both(*conditions))
    if keyed:
        return value
    # The value is over columns of both sides, so that nothing asks for it where no row of the block is concerned.
    block.plan = Project(block.plan, (*keep(names), Named(name, value)))
    return column(name)


def _is_keyed(inner: Relation, around: Plan) -> bool:
    """Whether all that the subquery's rows are grouped by is compared with the row around it."""
    sides = [sides_of(part, inner.plan, around)[0] for part in inner.correlated]
    compared = {side.name for side in sides if isinstance(side, exp.Column)}
    reached = bool(sides) and all(side is not None for side in sides)
    return reached and _is_unique(inner.plan, frozenset(compared))


def _is_unique(plan: Plan, names: frozenset[str]) -> bool:
    """Whether no two rows of a plan agree in the named columns."""
    match plan:
        case Filter(source):
            return _is_unique(source, names)
        case Project(source, columns):
            below = {c.expression.name for c in columns if c.name in names and isinstance(c.expression, exp.Column)}
            return _is_unique(source, frozenset(below))
        case Aggregate(_, keys):
            return bool(keys) and {key.name for key in keys} <= names
        case Distinct():
            return set(plan.names) <= names
        case _:
            return False


def _message(block: Block, conditions: tuple[exp.Expression, ...]) -> exp.Expression:
    """What the failure says: the values of the concerned row that the subquery compares with."""
    inside = set(block.plan.names)
    used = sorted({name for part in conditions for name in references(part)} & inside)
    if not used:
        return exp.Literal.string(_TOO_MANY + _ADVICE)
    parts: list[exp.Expression] = []
    for place, name in enumerate(used):
        label = block.scope.context.hints[name][0]
        parts.append(exp.Literal.string(f"{' for' if place == 0 else ' and'} {label} = "))
        shown = exp.cast(column(name), "string", dialect="spark")
        parts.append(exp.Coalesce(this=shown, expressions=[exp.Literal.string("NULL")]))
    return exp.Concat(expressions=[exp.Literal.string(_TOO_MANY), *parts, exp.Literal.string(_ADVICE)], safe=True)
