"""The names that Spark gives to SELECT items without an alias, where they are simple."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.dialect import CALLED

_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Count: "count",
    exp.Upper: "upper",
    exp.Lower: "lower",
    exp.Abs: "abs",
}
_OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}


def spark_name(item: exp.Expr) -> str | None:
    """Spark's own column name for an expression; None where it is not certain.

    >>> from sqlglot import parse_one
    >>> [spark_name(parse_one(sql, dialect="spark")) for sql in ("COUNT(*)", "sum(t.x)", "a + 1", "coalesce(a, 0)")]
    ['count(1)', 'sum(x)', '(a + 1)', None]
    """
    match item:
        case exp.Column():
            return item.name
        case exp.Literal():
            return str(item.this)
        case exp.Paren():
            return spark_name(item.this)
    if CALLED in item.meta:
        return _call_name(item.meta[CALLED], item)
    if type(item) in _FUNCTIONS:
        return _call_name(_FUNCTIONS[type(item)], item)
    if type(item) in _OPERATORS:
        left, right = spark_name(item.this), spark_name(item.expression)
        return f"({left} {_OPERATORS[type(item)]} {right})" if left and right else None
    return None


def _call_name(function: str, call: exp.Expr) -> str | None:
    first = call.this
    if isinstance(first, exp.Star):
        return f"{function}(1)"
    distinct = isinstance(first, exp.Distinct)
    others = [call.expression] if isinstance(call, exp.Binary) else call.expressions
    arguments = [spark_name(argument) for argument in (first.expressions if distinct else [first, *others])]
    if not all(arguments):
        return None
    return f"{function}({'DISTINCT ' if distinct else ''}{', '.join(map(str, arguments))})"
