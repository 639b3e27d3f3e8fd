"""The conditions between a grouped subquery and the query around it become further keys of its groups."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.nodes import Distinct, Join, Named, Project, column, references
from ivm_core.plan.rewrite import both, expect_expression, substitute
from ivm_core.plan.scope import refusal


def key_position(block: Block, keys: list[Named], expression: exp.Expression, label: str) -> int:
    """The place of a group key among ``keys``, to which it is added if it is new."""
    bare = expect_expression(expression.unnest())
    for position, key in enumerate(keys):
        if key.expression == bare:
            return position
    plain = isinstance(bare, exp.Column) and bare.name in block.plan.names
    keys.append(Named(bare.name if plain else block.scope.context.fresh(label), bare))
    return len(keys) - 1


def group_by_correlation(block: Block, keys: list[Named]) -> None:
    """``inner = outer`` in a correlated subquery: group by ``inner`` too, and compare the key above."""
    inside = set(block.plan.names)
    conditions: list[exp.Expression] = []
    others: list[exp.Expression] = []
    for condition in block.correlated:
        inner, outer = sides_of(condition, inside)
        if inner is None or outer is None:
            others.append(condition)
            continue
        position = key_position(block, keys, inner, "key")
        conditions.append(type(condition)(this=column(keys[position].name), expression=outer.copy()))
    block.correlated = [*conditions, *_join_outer_values(block, keys, others)]


def sides_of(condition: exp.Expression, inside: set[str]) -> tuple[exp.Expression | None, exp.Expression | None]:
    """The two sides of ``inner = outer``, the inner one over some of the names ``inside``; None where it is no such one."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return None, None
    sides = [expect_expression(side) for side in (condition.this, condition.expression)]
    inner = [side for side in sides if references(side) <= inside]
    outer = [side for side in sides if not references(side) & inside]
    return (inner[0], outer[0]) if len(inner) == len(outer) == 1 else (None, None)


def _join_outer_values(block: Block, keys: list[Named], conditions: list[exp.Expression]) -> list[exp.Expression]:
    """Other conditions: join the distinct values that the enclosing query compares with, and group by them."""
    if not conditions:
        return []
    around = block.scope.outer.plan if block.scope.outer is not None else None
    outside = sorted({name for part in conditions for name in references(part)} - set(block.plan.names))
    if around is None or not set(outside) <= set(around.names):
        raise refusal("a subquery that refers past the query around it", conditions[0], "Join the tables instead.")
    context = block.scope.context
    values = {name: context.fresh(*context.hints[name]) for name in outside}
    domain = Distinct(Project(around, tuple(Named(value, column(name)) for name, value in values.items())))
    inner = {name: column(value) for name, value in values.items()}
    block.plan = Join(domain, block.plan, condition=both(*(substitute(part, inner) for part in conditions)))
    keys.extend(Named(value, column(value)) for value in values.values())
    return [exp.NullSafeEQ(this=column(value), expression=column(name)) for name, value in values.items()]
