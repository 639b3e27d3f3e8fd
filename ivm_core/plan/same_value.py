"""Spellings of one value: any of them names a key of GROUP BY, in Spark (``canonicalized``) and here."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from ivm_core.plan.nodes import column, references
from ivm_core.plan.rewrite import expect_expression

_EITHER_WAY = (
    exp.Add, exp.Mul, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.EQ, exp.NullSafeEQ,
)  # fmt: skip
_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
# extract(FIELD FROM x) and date_part('FIELD', x); of seconds it is a decimal, which second() is not.
_FIELDS: dict[str, type[exp.Func]] = {
    **dict.fromkeys(("year", "y", "years", "yr", "yrs"), exp.Year),
    **dict.fromkeys(("quarter", "qtr"), exp.Quarter),
    **dict.fromkeys(("month", "mon", "mons", "months"), exp.Month),
    **dict.fromkeys(("week", "w", "weeks"), exp.WeekOfYear),
    **dict.fromkeys(("day", "d", "days"), exp.Day),
    **dict.fromkeys(("dayofweek", "dow"), exp.DayOfWeek),
    "doy": exp.DayOfYear,
    **dict.fromkeys(("hour", "h", "hours", "hr", "hrs"), exp.Hour),
    **dict.fromkeys(("minute", "m", "min", "mins", "minutes"), exp.Minute),
}
# Functions that are named by the type that they cast to; sqlglot knows the others (date, string, int …) as casts.
_CASTS = frozenset(
    ["bigint", "binary", "boolean", "decimal", "double", "float", "int", "smallint", "timestamp", "tinyint"]
)


def with_keys(expression: exp.Expression, keys: Mapping[exp.Expression, str], known: Collection[str]) -> exp.Expression:
    """The expression with a key's column wherever the key, which has the name, stands in it.

    Where columns remain that are neither ``known`` nor keys, what only is spelled otherwise is looked for too.
    """
    computed = {key: name for key, name in keys.items() if not isinstance(key, exp.Column)}
    if not computed:
        return expression
    found = expression.transform(lambda node: column(computed[node]) if node in computed else node)
    if references(expect_expression(found)) <= {*known, *keys.values()}:
        return expect_expression(found)
    same = computed | {one_spelling(key): name for key, name in computed.items()}

    def swap(node: exp.Expr) -> exp.Expr:
        name = same.get(expect_expression(node)) or same.get(one_spelling(node))
        return column(name) if name else node

    return expect_expression(expression.transform(swap))


def one_spelling(expression: exp.Expr) -> exp.Expression:
    """The expression as all are written that Spark takes for the same. Only to compare: it is not to be computed."""
    tree = expression.copy()
    for node in reversed(list(tree.walk())):  # what is inside first
        made = _spelled(node)
        if made is not node:
            tree = made if node is tree else tree
            node.replace(made)
    return expect_expression(tree)


def _spelled(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Paren():
            return expect_expression(node.this.copy())
        case exp.Dot(expression=exp.Identifier() as field):  # of a struct: in any case, quoted or not
            return exp.Dot(this=node.this.copy(), expression=exp.to_identifier(field.name.lower(), quoted=True))
        case exp.Binary() if isinstance(node, _EITHER_WAY):
            first, second = sorted((node.this, node.expression), key=lambda side: side.sql())
            return node if first is node.this else type(node)(this=first.copy(), expression=second.copy())
        case exp.Binary() if type(node) in _TURNED:
            return _TURNED[type(node)](this=node.expression.copy(), expression=node.this.copy())
        case exp.TryCast() if not node.args.get("safe"):  # sqlglot's reading of CAST
            return exp.Cast(this=node.this.copy(), to=node.to.copy())
        case exp.DayOfMonth():
            return exp.Day(this=node.this.copy())
        case exp.Extract():
            return _field(node.this.name, node.expression) or node
        case exp.Anonymous(this=str(name)):
            return _call(name.lower(), node)
        case exp.TsOrDsToDate() if isinstance(node.parent, tuple(_FIELDS.values())):
            return expect_expression(node.this.copy())  # year(d) is read as year(to_date(d))
        case _:
            return node


def _call(name: str, node: exp.Anonymous) -> exp.Expr:
    arguments = node.expressions
    if name in _CASTS and len(arguments) == 1:
        return exp.cast(arguments[0].copy(), name, dialect="spark")
    if name in ("date_part", "datepart") and len(arguments) == 2 and arguments[0].is_string:
        return _field(arguments[0].name, arguments[1]) or node
    return node if name == node.this else exp.Anonymous(this=name, expressions=[each.copy() for each in arguments])


def _field(name: str, of: exp.Expr) -> exp.Expr | None:
    made = _FIELDS.get(name.lower())
    return made(this=of.copy()) if made is not None else None
