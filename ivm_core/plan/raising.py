"""Expressions that fail on purpose, by ``raise_error``: the value of a scalar subquery that finds several rows."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.nodes import column
from ivm_core.plan.rewrite import expect_expression, value_where


def raise_error(message: exp.Expression) -> exp.Expression:
    """A value that is never had: asking for it fails with the message."""
    return exp.Anonymous(this="raise_error", expressions=[message])


def is_raise(node: exp.Expr) -> bool:
    """True for a call of ``raise_error``."""
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == "raise_error"


def can_raise(expression: exp.Expr) -> bool:
    """Whether some row may make the expression fail by ``raise_error``."""
    return any(is_raise(node) for node in expression.find_all(exp.Anonymous))


def never_raise(expression: exp.Expression) -> exp.Expression:
    """NULL in place of the failure."""
    return expect_expression(expression.transform(lambda node: exp.null() if is_raise(node) else node))


def raise_where_positive(expression: exp.Expression, name: str) -> exp.Expression:
    """The failure only where the column ``name`` is positive, NULL elsewhere.

    >>> from sqlglot import parse_one
    >>> raise_where_positive(parse_one("raise_error('no')", dialect="spark"), "w").sql("spark")
    "CASE WHEN `w` > 0 THEN RAISE_ERROR('no') END"
    """
    positive = exp.GT(this=column(name), expression=exp.Literal.number(0))
    return expect_expression(expression.transform(lambda node: value_where(positive, node) if is_raise(node) else node))
