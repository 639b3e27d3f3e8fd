"""The names that Spark gives to SELECT items without an alias, as far as rules are sure of them.

A view is created only if Spark's own analysis gives the very same names.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm_core.plan.dialect_functions import CALLED
from ivm_core.plan.statement import written_name
from ivm_core.plan.types import simple_string, suffixed

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
# Functions that Spark shows as they are called, with just the arguments they are given.
_AS_WRITTEN = frozenset([
    "abs", "any", "any_value", "avg", "bool_and", "bool_or", "char_length", "coalesce", "collect_list",
    "collect_set", "concat", "corr", "count", "count_if", "covar_pop", "covar_samp", "day", "dayofmonth", "every",
    "first_value", "greatest", "ifnull", "initcap", "last_value", "lcase", "least", "left", "length", "ln", "lower", "max",
    "max_by", "mean", "median", "min", "min_by", "mod", "month", "nullif", "nvl", "pmod", "quarter", "right",
    "some", "stddev", "stddev_pop", "stddev_samp", "substr", "substring", "sum", "trim", "ucase", "upper", "var_pop",
    "var_samp", "variance", "year",
])  # fmt: skip
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.IntDiv: "div", exp.EQ: "=", exp.LT: "<",
    exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.NullSafeEQ: "<=>", exp.And: "AND", exp.Or: "OR",
}  # fmt: skip
_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "string", "boolean", "timestamp", "date")


def spark_name(item: exp.Expr) -> str | None:
    """Spark's own column name for a SELECT item; None where it is not certain.

    >>> from sqlglot import parse_one
    >>> [spark_name(parse_one(sql, dialect="spark")) for sql in ("COUNT(*)", "sum(t.x)", "a <> 1", "d + interval 1 day")]
    ['count(1)', 'sum(x)', '(NOT (a = 1))', None]
    """
    bare = item.unnest()
    if isinstance(bare, exp.Cast) and isinstance(bare.this.unnest(), exp.Column):
        return spark_name(bare.this)  # a cast column keeps its name, but not inside another expression
    return _shown(bare)


def _shown(node: exp.Expr) -> str | None:
    """The text that Spark shows for an expression."""
    if CALLED in node.meta:
        return _call(node)
    if type(node) in _OPERATORS:
        return _joined("({} {} {})", node.this, _OPERATORS[type(node)], node.expression)
    match node:
        case exp.Column():
            return node.name if isinstance(node.this, exp.Identifier) else None
        case exp.Literal():
            return str(node.this) if node.is_string or _is_plain(str(node.this)) else None
        case exp.Var():
            written = suffixed(node)
            return str(written[0]) if written is not None else None
        case exp.Boolean():
            return "true" if node.this else "false"
        case exp.Null():
            return "NULL"
        case exp.Paren():
            return _shown(node.this)
        case exp.Neg():
            number = (isinstance(node.this, exp.Literal) and not node.this.is_string) or suffixed(node.this) is not None
            return _joined("-{}" if number else "(- {})", node.this)
        case exp.NEQ():
            return _joined("(NOT ({} = {}))", node.this, node.expression)
        case exp.Not(this=exp.Is(this=tested, expression=exp.Null())):
            return _joined("({} IS NOT NULL)", tested)
        case exp.Not():
            return _joined("(NOT {})", node.this)
        case exp.Is(expression=exp.Null()):
            return _joined("({} IS NULL)", node.this)
        case exp.Between():
            return _joined("between({}, {}, {})", node.this, node.args["low"], node.args["high"])
        case exp.In() if node.expressions:
            return _joined("({} IN ({}))", node.this, node.expressions)
        case exp.Like():
            return _joined("{} LIKE {}", node.this, node.expression)
        case exp.DPipe():
            return _joined("concat({}, {})", node.this, node.expression)
        case exp.Cast() if not (node.this.is_string and node.args["to"].is_type("date", "timestamp")):
            target = simple_string(node.args["to"])
            known = target in _TYPES or target.startswith("decimal")
            return _joined("CAST({} AS {})", node.this, target.upper()) if known else None
        case exp.Case():
            return _case(node)
        case exp.Filter():
            return _joined("{} FILTER (WHERE {})", node.this, node.expression.this)
        case exp.Window():
            return _window(node)
    return _call(node)


def _call(node: exp.Expr) -> str | None:
    """A function call."""
    arguments: list[exp.Expr] = []
    for value in node.args.values():
        arguments.extend(part for part in (value if isinstance(value, list) else [value]) if isinstance(part, exp.Expr))
    name = (node.meta.get(CALLED) or written_name(node) or _FUNCTIONS.get(type(node), "")).lower()
    if name == "round" and len(arguments) == 2:
        return _joined("round({})", arguments)
    if name not in _AS_WRITTEN:
        return None
    if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return f"{name}(1)"
    if arguments and isinstance(arguments[0], exp.Distinct):
        return _joined("{}(DISTINCT {})", name, arguments[0].expressions)
    # sqlglot wraps what year() and others take.
    arguments = [part.this if _is_wrapped(part) else part for part in arguments]
    return _joined("{}({})", name, arguments)


def _case(node: exp.Case) -> str | None:
    parts = ["CASE"]
    for branch in node.args["ifs"]:
        condition = exp.EQ(this=node.this.copy(), expression=branch.this.copy()) if node.this else branch.this
        shown = _joined("WHEN {} THEN {}", condition, branch.args["true"])
        if shown is None:
            return None
        parts.append(shown)
    if node.args.get("default") is not None:
        shown = _joined("ELSE {}", node.args["default"])
        if shown is None:
            return None
        parts.append(shown)
    return " ".join((*parts, "END"))


def _window(node: exp.Window) -> str | None:
    """Over whole partitions; an order makes the frame depend on the function."""
    if any(node.args.get(part) for part in ("order", "spec", "alias")):
        return None
    frame = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    partition = node.args.get("partition_by")
    if not partition:
        return _joined("{} OVER ({})", node.this, frame)
    return _joined("{} OVER (PARTITION BY {} {})", node.this, partition, frame)


def _joined(pattern: str, *parts: exp.Expr | Sequence[exp.Expr] | str) -> str | None:
    """The pattern with the parts as Spark shows them, lists with commas; None where one is not certain."""
    shown: list[str] = []
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
            continue
        each = [_shown(item) for item in ([part] if isinstance(part, exp.Expr) else part)]
        if None in each:
            return None
        shown.append(", ".join(map(str, each)))
    return pattern.format(*shown)


def _is_wrapped(node: exp.Expr) -> bool:
    return isinstance(node, exp.TsOrDsToDate) and written_name(node) is None


def _is_plain(number: str) -> bool:
    whole, _, fraction = number.partition(".")
    return whole.isdigit() and (fraction.isdigit() or not fraction) and not number.endswith(".")
