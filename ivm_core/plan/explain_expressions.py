"""The one form of each scalar expression: what reading back its own text gives."""

from __future__ import annotations

from sqlglot import exp, parse_one

from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.nodes import column
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.to_sql_names import is_plain, quote_where_needed

DIALECT = "spark"


def spell(expression: exp.Expr) -> str:
    """The expression in Spark's SQL on one line, identifiers quoted only where they must be."""
    return quote_where_needed(expression.copy()).sql(DIALECT, comments=False)


def spell_name(name: str) -> str:
    """The identifier, quoted if it must be."""
    return exp.to_identifier(name, quoted=not is_plain(name)).sql(DIALECT)


def read_expression(text: str) -> exp.Expression:
    """The expression of a text, with column references as ``nodes.column`` makes them. Raises sqlglot's ParseError."""
    return in_one_form(parse_one(text, dialect=SparkAsWritten))


def read_ordering(text: str) -> exp.Expression:
    """The same for an item of ORDER BY."""
    return in_one_form(parse_one(text, dialect=SparkAsWritten, into=exp.Ordered))


def canonical(expression: exp.Expr) -> exp.Expression:
    """The one form of an expression that a rule has built or a parser has read.

    >>> canonical(exp.column("a") / 2) == read_expression("a / 2")
    True
    """
    if isinstance(expression, exp.Ordered):
        return read_ordering(spell(expression))
    return read_expression(spell(expression))


def in_one_form(tree: exp.Expr) -> exp.Expression:
    """A copy of a tree that Spark's parser made, in which equal meanings have equal nodes.

    Column references are quoted, ``s.f`` reads a field of column ``s`` (plans know no table names in expressions), a
    CAST that raises is a Cast, though sqlglot reads Spark's as TryCast, and comments are gone.
    """

    def settle(node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Column() if not isinstance(node.this, exp.Star):
                return _field_path([part.name for part in node.parts])
            case exp.TryCast() if not node.args.get("safe"):
                return exp.Cast(**node.args)
            case _:
                return node

    settled = expect_expression(quote_where_needed(tree.copy()).transform(settle))
    for node in settled.walk():
        node.pop_comments()
    return settled


def _field_path(names: list[str]) -> exp.Expr:
    path: exp.Expr = column(names[0])
    for name in names[1:]:
        path = exp.Dot(this=path, expression=exp.to_identifier(name, quoted=not is_plain(name)))
    return path
