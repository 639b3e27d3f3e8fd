"""The conditions between a subquery and the query around it: further keys of its groups, or joins with the values outside."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.plan.block import Block
from ivm_core.plan.nodes import Distinct, Filter, Join, JoinKind, Named, Plan, Project, column, keep, references
from ivm_core.plan.rewrite import both, expect_expression, substitute
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.scope import Relation, Scope, refusal
from ivm_core.plan.types import is_comparable, tells_apart


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


def outer_row_keys(block: Block) -> list[exp.Expression]:
    """What tells the rows that meet one row of the enclosing query from those that meet another.

    Each correlated condition then compares one of these with a value of that row.
    """
    inner = {part: sides_of(part, block.plan, block.scope.around)[0] for part in block.correlated}
    joined = join_outer_values(block, [part for part, side in inner.items() if side is None])
    block.correlated = [*(part for part, side in inner.items() if side is not None), *joined]
    return [side.copy() for side in (*inner.values(), *(part.this for part in joined)) if side is not None]


def join_outer_values(block: Block, conditions: list[exp.Expression]) -> list[exp.NullSafeEQ]:
    """Correlated conditions of any kind: join the distinct values that the enclosing query compares with.

    Returns what is left to compare: each value, on the left side, with its column outside.
    """
    return _join_outer_values(block, conditions, conditions)[0] if conditions else []


def take_outer_values(block: Block, expressions: list[exp.Expression]) -> list[exp.Expression]:
    """The expressions over the block's plan alone, which is joined with the values of the enclosing query that they name."""
    if all(references(part) <= set(block.plan.names) for part in expressions):
        return expressions
    named = [*block.correlated, *expressions]
    equalities, inner = _join_outer_values(block, block.correlated, named)
    block.correlated = list(equalities)
    return [substitute(part, inner) for part in expressions]


def keep_empty_groups(block: Block, defaults: Mapping[str, exp.Expression]) -> None:
    """The row of an aggregate that finds nothing, added to the block's plan: its groups, joined to all values of the outer
    columns. ``defaults``: aggregates → what they give for no rows."""
    groups = block.plan
    equalities, inner = _join_outer_values(block, block.correlated, block.correlated, JoinKind.LEFT)
    kept = tuple(value.name for value in inner.values())
    whole = tuple(Named(name, defaults.get(name, column(name))) for name in groups.names)
    block.plan, block.correlated = Project(block.plan, (*keep(kept), *whole)), list(equalities)


def with_own_rows(relation: Relation, scope: Scope) -> Relation:
    """A relation whose ``values`` are columns of its plan: there is a row, or HAVING drops it, for all values of the outer
    columns that it names; the join with the enclosing query then takes it as it is.

    ``scope``: that of the query which the relation is."""
    if not relation.values:
        return relation
    having = [relation.having] if relation.having is not None else []
    block = Block(scope, relation.plan)
    named = [*relation.correlated, *relation.values, *having]
    equalities, inner = _join_outer_values(block, list(relation.correlated), named, JoinKind.LEFT)
    for part in having:
        block.plan = Filter(block.plan, substitute(part, inner))
    kept = tuple(value.name for value in inner.values())
    fields = zip(relation.fields, relation.values, strict=True)
    made = tuple(Named(field.name, substitute(value, inner)) for field, value in fields)
    plan = Project(block.plan, (*keep(kept), *made))
    return Relation(plan, relation.fields, tuple(equalities), at_most_one_row=True)


def _join_outer_values(
    block: Block, conditions: list[exp.Expression], named: list[exp.Expression], kind: JoinKind = JoinKind.INNER
) -> tuple[list[exp.NullSafeEQ], dict[str, exp.Expression]]:
    """Join the values of the enclosing query's columns in ``named``, by the conditions; also returns what stands for each."""
    outside = {name for part in named for name in references(part)} - set(block.plan.names)
    return join_values_of(block, sorted(outside), conditions, named[0], kind)


def join_values_of(
    block: Block,
    outside: list[str],
    conditions: list[exp.Expression],
    named: exp.Expression,
    kind: JoinKind = JoinKind.INNER,
) -> tuple[list[exp.NullSafeEQ], dict[str, exp.Expression]]:
    """Join the distinct values that the enclosing query has of these columns, by the conditions.

    Returns what is left to compare, and what stands for each column inside. ``named``: where they are named, for complaints.
    """
    around = block.scope.around
    if around is None or not set(outside) <= set(around.names):
        raise refusal("a subquery that refers past the query around it", named, "Join the tables instead.")
    types = types_of(around)
    for name in outside:
        if types[name] is not None and not is_comparable(types[name]):
            raise refusal(
                f"a subquery that computes with a {types[name]} of the query around it", named, "Use LATERAL VIEW."
            )
    context = block.scope.context
    values = {name: context.fresh(*context.hints[name]) for name in outside}
    domain = Distinct(Project(around, tuple(Named(value, column(name)) for name, value in values.items())))
    inner: dict[str, exp.Expression] = {name: column(value) for name, value in values.items()}
    condition = both(*(substitute(part, inner) for part in conditions))
    if condition is None and kind != JoinKind.INNER:
        condition = exp.true()
    block.plan = Join(domain, block.plan, kind, condition)
    equalities = [exp.NullSafeEQ(this=column(value), expression=column(name)) for name, value in values.items()]
    return equalities, inner
