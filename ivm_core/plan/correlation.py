"""The conditions between a grouped subquery and the query around it become further keys of its groups."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.nodes import Distinct, Join, Named, Plan, Project, column, references
from ivm_core.plan.rewrite import both, expect_expression, substitute
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.scope import refusal
from ivm_core.plan.types import tells_apart


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
    conditions: list[exp.Expression] = []
    others: list[exp.Expression] = []
    for condition in block.correlated:
        inner, outer = sides_of(condition, block.plan, block.scope.around)
        if inner is None or outer is None:
            others.append(condition)
            continue
        position = key_position(block, keys, inner, "key")
        conditions.append(type(condition)(this=column(keys[position].name), expression=outer.copy()))
    joined = join_outer_values(block, others)
    keys.extend(Named(part.this.name, column(part.this.name)) for part in joined)
    block.correlated = [*conditions, *joined]


def sides_of(
    condition: exp.Expression, inside: Plan, around: Plan | None
) -> tuple[exp.Expression | None, exp.Expression | None]:
    """The two sides of ``inner = outer``, where a row of ``around`` can equal no two different values of ``inner``.

    None where it is no such condition: '1' and '01' both equal 1.
    """
    if around is None or not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return None, None
    names = set(inside.names)
    sides = [expect_expression(side) for side in (condition.this, condition.expression)]
    inner = [side for side in sides if references(side) <= names]
    outer = [side for side in sides if not references(side) & names]
    if not len(inner) == len(outer) == 1:
        return None, None
    one_to_one = tells_apart(type_of(inner[0], types_of(inside)), type_of(outer[0], types_of(around)))
    return (inner[0], outer[0]) if one_to_one else (None, None)


def join_outer_values(block: Block, conditions: list[exp.Expression]) -> list[exp.NullSafeEQ]:
    """Correlated conditions of any kind: join the distinct values that the enclosing query compares with.

    Returns what is left to compare: each value, on the left side, with its column outside.
    """
    return _join_outer_values(block, conditions, conditions)[0] if conditions else []


def take_outer_values(block: Block, expressions: list[exp.Expression]) -> list[exp.Expression]:
    """The expressions over the block's plan alone, which is joined with the values of the enclosing query that they name."""
    inside = set(block.plan.names)
    if all(references(part) <= inside for part in expressions):
        return expressions
    named = [*block.correlated, *expressions]
    equalities, inner = _join_outer_values(block, block.correlated, named)
    block.correlated = list(equalities)
    return [substitute(part, inner) for part in expressions]


def _join_outer_values(
    block: Block, conditions: list[exp.Expression], named: list[exp.Expression]
) -> tuple[list[exp.NullSafeEQ], dict[str, exp.Expression]]:
    """Join the values of the enclosing query's columns in ``named``, by the conditions; also returns what stands for each."""
    around = block.scope.around
    outside = sorted({name for part in named for name in references(part)} - set(block.plan.names))
    if around is None or not set(outside) <= set(around.names):
        raise refusal("a subquery that refers past the query around it", named[0], "Join the tables instead.")
    context = block.scope.context
    values = {name: context.fresh(*context.hints[name]) for name in outside}
    domain = Distinct(Project(around, tuple(Named(value, column(name)) for name, value in values.items())))
    inner: dict[str, exp.Expression] = {name: column(value) for name, value in values.items()}
    block.plan = Join(domain, block.plan, condition=both(*(substitute(part, inner) for part in conditions)))
    equalities = [exp.NullSafeEQ(this=column(value), expression=column(name)) for name, value in values.items()]
    return equalities, inner
