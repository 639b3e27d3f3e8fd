"""The items of a SELECT list: stars written out, generators moved below, names bound left to right."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.from_sql_generators import generate
from ivm_core.plan.from_sql_windows import name_windows
from ivm_core.plan.functions import is_generator
from ivm_core.plan.nodes import column
from ivm_core.plan.rewrite import expect_expression, struct_of
from ivm_core.plan.scope import Field, Relation, Scope, complaint, match_field, refusal, resolve
from ivm_core.plan.types import parse_type
from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import types_of

Item = tuple[str | None, exp.Expr]  # the label, if there is one, and the expression


def expand_items(select: exp.Select, block: Block) -> list[Item]:
    """SELECT items with their labels: stars replaced by columns, generators moved below."""
    items: list[Item] = []
    for expression in select.expressions:
        if isinstance(expression, exp.Aliases) or is_generator(expression.unalias()):
            items.extend(_generated(expression, block, select))
        elif expression.is_star and isinstance(expression, exp.Star | exp.Column):
            items.extend(_star(expression, block))
        else:
            named = name_windows(spread_stars(expression, block), select)
            items.append((_label(named), named.unalias()))
    if not items:
        raise complaint(DefinitionError, "The SELECT list is empty.", select, "SELECT")
    return items


def _label(expression: exp.Expr) -> str | None:
    if isinstance(expression, exp.Alias):
        return expression.alias
    if isinstance(expression, exp.Column | exp.Dot):
        return expression.name if isinstance(expression, exp.Column) else expression.expression.name
    return None


def _star(node: exp.Expr, block: Block) -> list[Item]:
    """``*``, ``t.*``, ``t.struct.*`` and ``* EXCEPT (…)``; each column by its plan name."""
    scope = block.scope
    fields = _starred(node, scope)
    if _names_struct(node, fields, scope):
        return _struct_star(node, block)
    return [(f.label, _Bound(this=column(f.name))) for f in _chosen(node, fields, scope)]


def spread_stars(expression: exp.Expr, block: Block) -> exp.Expr:
    """``hash(*)`` → ``hash(a, b)``: a star among a function's arguments is its columns, ``struct(st.*)`` the fields of a
    struct; that of ``count(*)`` is none.

    ``count(DISTINCT *)`` counts columns too. Spark refuses ``count(t.*)``, which could be either.
    """
    if expression.find(exp.Star) is None:
        return expression
    tree = expression.copy()
    for star in list(tree.find_all(exp.Star)):
        node = star.parent if isinstance(star.parent, exp.Column) else star
        counted = isinstance(node.parent, exp.Count) or (isinstance(node.parent, exp.Distinct) and node is not star)
        if counted or node.find_ancestor(exp.Query) is not None or node.index is None:
            continue
        columns = _spread(node, block)
        if isinstance(node.parent, exp.Struct):
            node.replace(list(struct_of(columns).expressions))
        else:
            node.replace([each for _, each in columns])
    return tree


def _spread(node: exp.Expr, block: Block) -> list[tuple[str, exp.Expr]]:
    """The columns or fields that a star stands for, by their labels, as they can be written in its place."""
    fields = _starred(node, block.scope)
    if not _names_struct(node, fields, block.scope):
        chosen = _chosen(node, fields, block.scope)
        return [(f.label, exp.column(f.label, *reversed(f.qualifier), quoted=True)) for f in chosen]
    struct = _struct(node)
    return [(name, _field(struct.copy(), name)) for name in _field_names(resolve(struct, block.scope), node, block)]


def _names_struct(node: exp.Expr, fields: list[Field], scope: Scope) -> bool:
    """Whether what stands before a star is no table, of which it would have ``fields``, but a column."""
    return not fields and not _excepted(node) and match_field(scope, _qualifier(node), node) is not None


def _qualifier(node: exp.Expr) -> tuple[str, ...]:
    return tuple(part.name.lower() for part in node.parts[:-1]) if isinstance(node, exp.Column) else ()


def _starred(node: exp.Expr, scope: Scope) -> list[Field]:
    """The fields that a star stands for, with those that its EXCEPT leaves out."""
    star = _star_of(node)
    if star.args.get("replace") or star.args.get("rename"):
        raise refusal("* REPLACE or RENAME", node, "List the columns.")
    qualifier = _qualifier(node)
    fields = [f for f in scope.fields if (f.is_of(qualifier) if qualifier else f.starred)]
    fields.sort(key=lambda f: f.starred)  # the columns that USING hides come first
    return fields


def _star_of(node: exp.Expr) -> exp.Expr:
    return expect_expression(node.this) if isinstance(node, exp.Column) else node


def _excepted(node: exp.Expr) -> list[exp.Expr]:
    """What stands in the EXCEPT of a star."""
    star = _star_of(node)
    return list(star.args.get("except_") or star.args.get("except") or [])


def _chosen(node: exp.Expr, fields: list[Field], scope: Scope) -> list[Field]:
    """The fields without those that EXCEPT names, with their tables or without: of two columns ``a``, only ``u.a``."""
    if not fields:
        raise complaint(DefinitionError, f"{node.sql('spark')} stands for no columns.", node, "*")
    among = replace(scope, fields=tuple(replace(f, starred=True) for f in fields))
    left_out: set[str] = set()
    unknown: list[str] = []
    for item in _excepted(node):
        if not isinstance(item, exp.Column | exp.Identifier):
            raise refusal("an expression in EXCEPT", item, "List the columns.")
        parts = tuple(part.name for part in item.parts) if isinstance(item, exp.Column) else (item.name,)
        found = match_field(among, parts, node)
        if found is None:
            unknown.append(".".join(parts).lower())
        elif found[1]:
            raise refusal("a struct's field in EXCEPT", node, "List the columns.")
        else:
            left_out.add(found[0].name)
    if unknown:
        raise complaint(DefinitionError, f"EXCEPT names no column of *: {', '.join(sorted(unknown))}.", node, "EXCEPT")
    return [f for f in fields if f.name not in left_out]


def _struct_star(node: exp.Expr, block: Block) -> list[Item]:
    """The fields of a struct, each by its name."""
    value = resolve(_struct(node), block.scope)
    return [(name, _Bound(this=_field(value, name))) for name in _field_names(value, node, block)]


def _struct(node: exp.Expr) -> exp.Column:
    """The name before the star."""
    parts = node.parts[:-1] if isinstance(node, exp.Column) else []
    places = zip(("this", "table", "db", "catalog"), reversed(parts), strict=False)
    return exp.Column(**{place: part.copy() for place, part in places})


def _field_names(value: exp.Expression, node: exp.Expr, block: Block) -> list[str]:
    kind = parse_type(type_of(value, types_of(block.plan)) or "void")
    if kind is None or kind.this != exp.DType.STRUCT:
        raise complaint(DefinitionError, f"{node.sql('spark')} stands for no columns.", node, "*")
    return [field.name for field in kind.expressions]


def _field(value: exp.Expression, name: str) -> exp.Dot:
    return exp.Dot(this=value, expression=exp.to_identifier(name, quoted=True))


class _Bound(exp.Expression):
    """A SELECT item whose plan column is already known."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


def _generated(expression: exp.Expr, block: Block, select: exp.Select) -> list[Item]:
    call = expression.this if isinstance(expression, exp.Aliases) else expression.unalias()
    labels = tuple(item.name for item in expression.expressions) if isinstance(expression, exp.Aliases) else ()
    if isinstance(expression, exp.Alias):
        labels = (expression.alias,)
    before = block.scope.fields
    made = generate(Relation(block.plan, (), tuple(block.correlated)), call, labels, (), False, block.scope)
    block.plan, block.correlated = made.plan, list(made.correlated)
    block.scope = replace(block.scope, fields=(*before, *(replace(f, starred=False) for f in made.fields)))
    return [(f.label, _Bound(this=column(f.name))) for f in made.fields]


def bind_items(items: list[Item], scope: Scope) -> list[exp.Expression]:
    """Items left to right: a later one may name an earlier one's alias (lateral column aliases)."""
    bound: list[exp.Expression] = []
    aliases: dict[str, exp.Expression] = {}
    for label, item in items:
        value = (
            expect_expression(item.this)
            if isinstance(item, _Bound)
            else resolve(item, replace(scope, aliases=dict(aliases)))
        )
        bound.append(value)
        if label:
            aliases.setdefault(label.lower(), value)
    return bound
