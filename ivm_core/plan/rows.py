"""Structs made of expressions, whose fields have the names that Spark gives them: those of the query, not of the plan."""

from __future__ import annotations

from sqlglot import exp

_SIDES = (exp.Tuple, exp.In, exp.Predicate, exp.Any, exp.All, exp.Window, exp.Ordered)  # rows that are compared


def field_name(value: exp.Expr, otherwise: str) -> exp.Identifier:
    """The last part of a name: ``t.a`` → ``a``, ``m['x']`` → ``x``, ``l[0].y`` → ``y``; of anything else ``otherwise``."""
    match value:
        case exp.Column(this=exp.Identifier() as name) | exp.Dot(expression=exp.Identifier() as name):
            return name.copy()
        case exp.Identifier():
            return value.copy()
        case exp.Bracket(expressions=[exp.Literal(is_string=True) as key]) if value.args.get("offset") is None:
            return exp.to_identifier(key.name, quoted=True)
        case _:
            return exp.to_identifier(otherwise)


def name_fields(node: exp.Expr) -> exp.Expr:
    """``(a, b)`` → ``struct(a AS a, b AS b)`` where it is a value, and ``arrays_zip(l)`` with its fields named so too."""
    match node:
        case exp.Tuple(expressions=values) if values and not isinstance(node.parent, _SIDES):
            return exp.Struct(expressions=[_field(value, f"col{n}") for n, value in enumerate(values, 1)])
        case exp.ArraysZip(expressions=lists) if any(field_name(each, "").name for each in lists):
            return _zip(lists)
        case _:
            return node


def _field(value: exp.Expr, otherwise: str) -> exp.PropertyEQ:
    """One field; ``x AS a`` has its name already."""
    name = value.args["alias"] if isinstance(value, exp.Alias) else field_name(value, otherwise)
    return exp.PropertyEQ(this=name, expression=value.unalias())


def _zip(lists: list[exp.Expr]) -> exp.Expr:
    """``arrays_zip(l, m)`` → ``transform(arrays_zip(coalesce(l), coalesce(m)), r -> struct(r.`0` AS l, r.`1` AS m))``: what
    is no name in the query, Spark numbers."""
    row = exp.to_identifier("row")
    fields = [
        exp.PropertyEQ(
            this=field_name(each, str(n)),
            expression=exp.Dot(this=row.copy(), expression=exp.to_identifier(str(n), quoted=True)),
        )
        for n, each in enumerate(lists)
    ]
    zipped = exp.ArraysZip(expressions=[exp.Coalesce(this=each) for each in lists])
    return exp.Transform(this=zipped, expression=exp.Lambda(this=exp.Struct(expressions=fields), expressions=[row]))
