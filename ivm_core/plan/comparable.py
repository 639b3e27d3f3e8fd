"""Values that Spark does not compare, as values that it does: maps as their entries in order, variants as text with type.

Two maps are equal if they have equal entries, in any order; two variants if they show the same JSON and the same schema.
"""

from __future__ import annotations

import re

from sqlglot import exp

from ivm_core.plan.nodes import Aggregate, Named, Plan, Project, column, keep
from ivm_core.plan.rewrite import expect_expression, struct_of, value_where
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.types import Type, is_comparable, parse_type, simple_string


def comparable_keys(plan: Aggregate) -> Plan:
    """γ_{m; f} Q → π_{map(k), f} γ_{k = entries(m); f} Q, for Spark groups by maps but joins by none."""
    types = types_of(plan.source)
    keys, shown = [], []
    for key in plan.keys:
        type_ = type_of(key.expression, types)
        made = as_comparable(key.expression, type_)
        back = from_comparable(column(key.name), type_)
        if made is None or back is None:
            return plan
        keys.append(Named(key.name, made))
        shown.append(Named(key.name, back))
    if tuple(keys) == plan.keys:
        return plan
    grouped = Aggregate(plan.source, tuple(keys), plan.aggregates)
    return Project(grouped, (*shown, *keep(tuple(each.name for each in plan.aggregates))))


def as_comparable(value: exp.Expr, type_: Type | None) -> exp.Expression | None:
    """The value itself where it can be compared, else one that is equal where it is, and NULL where it is.

    None for types of which no such values are known.

    >>> as_comparable(exp.column("v"), "variant").sql("spark")
    "CAST(CONCAT(TO_JSON(v), ' ', SCHEMA_OF_VARIANT(v)) AS STRING)"
    >>> as_comparable(exp.column("m"), "map<int,string>").sql("spark")
    'CAST(ARRAY_SORT(MAP_ENTRIES(m)) AS ARRAY<STRUCT<key: INT, value: STRING>>)'
    """
    return _converted(value, type_, back=False)


def as_shown(value: exp.Expr, type_: Type | None) -> exp.Expression | None:
    """The same with the entries of maps in the order in which they stand: equal only where maps are shown alike, as JSON too.

    >>> as_shown(exp.column("m"), "map<int,string>").sql("spark")
    'CAST(MAP_ENTRIES(m) AS ARRAY<STRUCT<key: INT, value: STRING>>)'
    """
    made = as_comparable(value, type_)
    ordered = made and made.transform(lambda node: node.this if isinstance(node, exp.ArraySort) else node, copy=False)
    return expect_expression(ordered) if ordered else None


def from_comparable(value: exp.Expr, type_: Type | None) -> exp.Expression | None:
    """The value of this type of which ``as_comparable`` made ``value``; None for variants, whose text is no value.

    >>> from_comparable(exp.column("m"), "map<int,string>").sql("spark")
    'CAST(MAP_FROM_ENTRIES(m) AS MAP<INT, STRING>)'
    """
    return _converted(value, type_, back=True)


def _converted(value: exp.Expr, type_: Type | None, *, back: bool) -> exp.Expression | None:
    """To what can be compared, or ``back`` to the type; cast, for of what stands in lambda functions no type is derived."""
    if is_comparable(type_):
        return expect_expression(value.copy())
    # sqlglot loses a void inside of another type: what map() holds has no type to be cast to.
    parsed = None if re.search(r"\bvoid\b", type_ or "") else parse_type(type_ or "")
    made = _rebuilt(value, parsed, back=back) if parsed else None
    return exp.cast(made, parsed.copy() if back else _comparable_type(parsed)) if made and parsed else None


def _rebuilt(value: exp.Expr, type_: exp.DataType, *, back: bool, depth: int = 1) -> exp.Expression | None:
    """The value with all maps and variants in it replaced, or, on the way ``back``, with the maps in their places."""
    if is_comparable(simple_string(type_)):
        return expect_expression(value.copy())
    match type_.this:
        case exp.DType.VARIANT if not back:
            text, schema = (
                exp.Anonymous(this=name, expressions=[value.copy()]) for name in ("to_json", "schema_of_variant")
            )
            return exp.Anonymous(this="concat", expressions=[text, exp.Literal.string(" "), schema])
        case exp.DType.MAP if back:
            entries = _each(value, _entry(type_), back=back, depth=depth)
            return entries and exp.MapFromEntries(this=entries)
        case exp.DType.MAP:
            entries = _each(
                exp.Anonymous(this="map_entries", expressions=[value.copy()]), _entry(type_), back=back, depth=depth
            )
            return entries and exp.ArraySort(this=entries, nulls_first=exp.false())
        case exp.DType.ARRAY:
            return _each(value, type_.expressions[0], back=back, depth=depth)
        case exp.DType.STRUCT:
            return _fields(value, type_, back=back, depth=depth)
        case _:
            return None


def _each(values: exp.Expr, type_: exp.DataType, *, back: bool, depth: int) -> exp.Expression | None:
    """An array with every element rebuilt."""
    element = exp.to_identifier(f"element_{depth}")
    made = _rebuilt(element, type_, back=back, depth=depth + 1)
    if made is None or made == element:
        return made and expect_expression(values.copy())
    return exp.Transform(this=values.copy(), expression=exp.Lambda(this=made, expressions=[element]))


def _fields(value: exp.Expr, type_: exp.DataType, *, back: bool, depth: int) -> exp.Expression | None:
    """A struct with every field rebuilt."""
    fields: list[tuple[exp.Identifier, exp.Expr]] = []
    for field in type_.expressions:
        part = exp.Dot(this=value.copy(), expression=field.this.copy())
        made = _rebuilt(part, field.args["kind"], back=back, depth=depth)
        if made is None:
            return None
        fields.append((field.this.copy(), made))
    present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    return value_where(present, struct_of(fields))


def _entry(type_: exp.DataType) -> exp.DataType:
    """The type of a map's entries."""
    names = (exp.to_identifier(name) for name in ("key", "value"))
    fields = [exp.ColumnDef(this=name, kind=part.copy()) for name, part in zip(names, type_.expressions, strict=True)]
    return exp.DataType(this=exp.DType.STRUCT, expressions=fields, nested=True)


def _comparable_type(type_: exp.DataType) -> exp.DataType:
    """The type of what ``as_comparable`` makes."""
    changed = type_.copy()
    for part in reversed(list(changed.find_all(exp.DataType))):  # from the inside
        if part.this == exp.DType.VARIANT:
            part.set("this", exp.DType.TEXT)
        elif part.this == exp.DType.MAP:
            part.set("expressions", [_entry(part)])
            part.set("this", exp.DType.ARRAY)
    return changed
