"""UNION, INTERSECT and EXCEPT, with and without ALL, also in correlated subqueries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.correlation import join_values_of, sides_of, with_own_rows
from ivm_core.plan.nodes import Distinct, Named, Plan, Project, SetKind, SetOperation, UnionAll, column, references
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.scope import Field, Relation, Scope, complaint, refusal
from ivm_core.plan.types import common_type


def bind_set_operation(node: exp.SetOperation, scope: Scope) -> Relation:
    """Both sides are brought under the left side's labels; what they compare with the enclosing query, under one name too."""
    bound = (scope.context.bind(side, scope) for side in (node.left, node.right))
    left, right = (with_own_rows(side, scope) for side in bound)
    labels = [f.label for f in left.fields]
    others = {f.label.lower(): f for f in right.fields}
    if node.args.get("by_name"):
        if set(others) != {label.lower() for label in labels}:
            raise complaint(DefinitionError, "UNION BY NAME needs the same columns on both sides.", node, "UNION")
        right = replace(right, fields=tuple(others[label.lower()] for label in labels))
    if len(left.fields) != len(right.fields):
        message = f"{node.key.upper()} has {len(left.fields)} columns on its left and {len(right.fields)} on its right."
        raise complaint(DefinitionError, message, node, node.key.upper())
    left, right = _compare_alike(left, right, scope)
    names = [scope.context.fresh(f.label or "value", scope.context.hints[f.name][1]) for f in left.fields]
    keys = [scope.context.fresh("key") for _ in left.correlated]
    one, other = _under_common_types(left, right, names, keys)
    distinct = bool(node.args.get("distinct"))
    match node:
        case exp.Union():
            plan: Plan = Distinct(UnionAll((one, other))) if distinct else UnionAll((one, other))
        case exp.Intersect():
            plan = SetOperation(one, other, SetKind.INTERSECT, all=not distinct)
        case exp.Except():
            plan = SetOperation(one, other, SetKind.EXCEPT, all=not distinct)
        case _:
            raise refusal(node.key.upper(), node)
    compared = zip(left.correlated, keys, strict=True)
    correlated = tuple(type(part)(this=column(key), expression=part.expression.copy()) for part, key in compared)
    fields = tuple(Field(label, name) for label, name in zip(labels, names, strict=True))
    return Relation(plan, fields, correlated)


def _compare_alike(left: Relation, right: Relation, scope: Scope) -> tuple[Relation, Relation]:
    """Both sides with the same conditions ``inner = outer``, of which no row outside meets two values on the inner side.

    Then the rows that one row outside meets are those of the set operation over all rows: σ(A ∪ B) = σ(A) ∪ σ(B), and so for
    INTERSECT and EXCEPT, since rows that differ in what is compared are different rows.
    """
    one, other = _comparisons(left, scope), _comparisons(right, scope)
    if one is not None and other is not None and one.keys() == other.keys():
        return replace(left, correlated=tuple(one.values())), replace(right, correlated=tuple(other[k] for k in one))
    parts = [*left.correlated, *right.correlated]
    inside = {*left.plan.names, *right.plan.names}
    outside = sorted({name for part in parts for name in references(part)} - inside)
    return _among_values(left, outside, parts[0], scope), _among_values(right, outside, parts[0], scope)


def _comparisons(side: Relation, scope: Scope) -> dict[tuple[type[exp.Expr], exp.Expr, str], exp.Expression] | None:
    """The conditions as ``inner = outer``, by operator, outer expression and inner type; None where one is another."""
    found: dict[tuple[type[exp.Expr], exp.Expr, str], exp.Expression] = {}
    for part in side.correlated:
        inner, outer = sides_of(part, side.plan, scope.around)
        kind = type_of(inner, types_of(side.plan)) if inner is not None else None
        if inner is None or outer is None or kind is None:
            return None
        found[type(part), outer, kind] = type(part)(this=inner.copy(), expression=outer.copy())
    return found if len(found) == len(side.correlated) else None


def _among_values(side: Relation, outside: list[str], named: exp.Expression, scope: Scope) -> Relation:
    """The side's rows for each of the values that the query around has in these columns, which are compared above."""
    block = Block(scope, side.plan)
    equalities, _ = join_values_of(block, outside, list(side.correlated), named)
    return Relation(block.plan, side.fields, tuple(equalities))


def _under_common_types(
    left: Relation, right: Relation, names: Sequence[str], keys: Sequence[str]
) -> tuple[Project, Project]:
    """Both sides under the same names, and cast where Spark would: a rewriting that drops one side keeps the other's type.

    Where a type is not certain here, the cast is left to Spark. ``keys``: the names of what is compared with the query around.
    """
    own, others = ([types_of(side.plan)[field.name] for field in side.fields] for side in (left, right))
    common = [common_type(one, other) for one, other in zip(own, others, strict=True)]
    return _cast(left, own, common, names, keys), _cast(right, others, common, names, keys)


def _cast(
    side: Relation,
    types: Sequence[str | None],
    wanted: Sequence[str | None],
    names: Sequence[str],
    keys: Sequence[str],
) -> Project:
    """The side's fields under other names, each of the wanted type where that is known and another, and its keys."""
    columns = (
        column(field.name) if wider in (None, type_) else exp.cast(column(field.name), wider, dialect="spark")
        for field, type_, wider in zip(side.fields, types, wanted, strict=True)
    )
    compared = (expect_expression(part.this.copy()) for part in side.correlated)
    made = zip((*names, *keys), (*columns, *compared), strict=True)
    return Project(side.plan, tuple(Named(name, value) for name, value in made))
