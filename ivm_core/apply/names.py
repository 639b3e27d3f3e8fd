"""Names of the relations that apply statements use, and small builders of their SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from ivm_core.plan.comparable import as_comparable

Odd = Mapping[str, str]  # columns that Spark does not compare, with their types
NO_ODD: Odd = MappingProxyType({})
TARGET = "stored"  # alias of the state table
SOURCE = "batch"  # alias of the batch's rows
STATE = "__ivm_stored"  # the state's rows at the version the batch found
DRIFT = "IVM_DRIFT"  # first word of the errors that statements raise for impossible states


def table(name: str, alias: str = "") -> exp.Table:
    """A relation by its plain name."""
    result = exp.Table(this=exp.to_identifier(name, quoted=True))
    return exp.alias_(result, alias, table=True) if alias else result  # type: ignore[return-value]


def col(name: str, relation: str = "") -> exp.Column:
    """A quoted column, of ``relation`` where given."""
    return exp.Column(
        this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(relation) if relation else None
    )


def named(expression: exp.Expr, name: str) -> exp.Expr:
    """``expression AS name``."""
    return exp.alias_(expression, exp.to_identifier(name, quoted=True))


def number(value: int) -> exp.Expr:
    """An integer literal."""
    return exp.Literal.number(value)


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """The conjunction; TRUE of none."""
    listed = [_grouped(condition) for condition in conditions]
    return exp.and_(*listed) if listed else exp.true()


def value(name: str, odd: Odd, relation: str = "") -> exp.Expr:
    """The column, or what is compared in its place."""
    written = col(name, relation)
    return (as_comparable(written, odd[name]) or written) if name in odd else written


def same(left: str, right: str, columns: Sequence[str], odd: Odd = NO_ODD) -> exp.Expr:
    """The columns of two relations are equal, NULL equal to NULL."""
    pairs = ((value(name, odd, left), value(name, odd, right)) for name in columns)
    return all_of(exp.NullSafeEQ(this=one, expression=other) for one, other in pairs)


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function call, spelled as given."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def drift(message: str) -> exp.Expr:
    """A call that fails the statement: nothing is committed."""
    return call("raise_error", exp.Literal.string(f"{DRIFT}: {message}"))


def case(*branches: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr) -> exp.Expr:
    """``CASE WHEN … THEN … ELSE … END``."""
    return exp.Case(ifs=[exp.If(this=condition, true=value) for condition, value in branches], default=otherwise)


def to_type(expression: exp.Expr, type_: str) -> exp.Expr:
    """The expression cast to a Spark type."""
    return exp.Cast(this=expression, to=exp.DataType.build(type_, dialect="spark"))


def spark_sql(expression: exp.Expr) -> str:
    """The statement as Spark SQL."""
    return expression.sql("spark", pretty=True)


def _grouped(condition: exp.Expr) -> exp.Expr:
    return exp.Paren(this=condition) if isinstance(condition, exp.Or) else condition


def copies(column: str, name: str, *, removed: bool = False) -> exp.Expr:
    """The sum of the positive values of a signed column, or of the negative ones as a positive number, never NULL."""
    value: exp.Expr = exp.Neg(this=col(column)) if removed else col(column)
    positive = call("greatest", value, number(0))
    return named(exp.Coalesce(this=exp.Sum(this=positive), expressions=[number(0)]), name)


def signed(value: int, name: str) -> exp.Expr:
    """A BIGINT constant under a name."""
    return named(exp.cast(number(value), "bigint"), name)
