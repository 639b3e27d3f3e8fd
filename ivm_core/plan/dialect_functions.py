"""How calls of Spark's functions are read: as sqlglot reads them, where writing that again gives the same call."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

from ivm_core.plan.foreign_names import FOREIGN_NAMES

CALLED = "called"  # in an expression's meta: the name that a function was called by, where it has several

Builder = Callable[..., exp.Expr]
_BUILDERS: dict[str, Builder] = SparkParser.FUNCTIONS

_AS_WRITTEN = (
    "collate",
    "log10",
    "parse_json",
    "percentile_cont",
    "percentile_disc",
    "to_char",
    "unix_date",
)
_OF_DATES = ("YEAR", "YYYY", "YY", "QUARTER", "MONTH", "MM", "MON", "WEEK")
_UNITS = {
    "date_trunc": (*_OF_DATES, "DAY", "DD", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"),
    "trunc": _OF_DATES,
}


def as_written(name: str) -> Builder:
    """The function under its own name, of no known meaning."""
    return lambda args: exp.Anonymous(this=name, expressions=args)


def _called(name: str) -> Builder:
    """What sqlglot makes of the function, with a note of its name."""

    def build(args: list[exp.Expr]) -> exp.Expr:
        made = _BUILDERS[name.upper()](args)
        made.meta[CALLED] = name
        return made

    return build


def _in_parentheses(builder: Builder) -> Builder:
    """A call that is written as an operator, which another one beside it must not tear apart."""
    return lambda args: exp.Paren(this=builder(args))


def _of_two(name: str, kind: type[exp.Expression]) -> Builder:
    """``max_by(x, y)``; with a number of values it is another function."""
    return lambda args: kind(this=args[0], expression=args[1]) if len(args) == 2 else as_written(name)(args)


def _percentile(args: list[exp.Expr]) -> exp.Expr:
    """``percentile(x, p)``; sqlglot would leave out how often each value counts."""
    distinct = isinstance(args[0], exp.Distinct) if args else False
    given = args[0].expressions if distinct else args
    if len(given) != 2:
        return as_written("percentile")(args)
    value, share = given
    return exp.Quantile(this=exp.Distinct(expressions=[value]) if distinct else value, quantile=share)


def _of_unit(name: str, place: int) -> Builder:
    """``date_trunc('month', x)``; sqlglot would take a unit that is not written out for the name of one, and ``'M'``,
    which Spark does not know, for minutes."""

    def build(args: list[exp.Expr]) -> exp.Expr:
        known = len(args) == 2 and args[place].is_string and args[place].name.upper() in _UNITS[name]
        return _BUILDERS[name.upper()](args) if known else as_written(name)(args)

    return build


def _of_pattern(name: str) -> Builder:
    """``date_format(x, 'yyyy')``; sqlglot would spell some patterns otherwise, and translate text that is quoted in one."""

    def build(args: list[exp.Expr], dialect: Dialect) -> exp.Expr:
        if len(args) == 2 and args[1].is_string:
            translated = exp.TimeToStr(this=exp.null(), format=Spark.format_time(args[1].copy()))
            if Spark().generator().format_time(translated) != args[1].sql(Spark):
                return as_written(name)(args)
        try:
            return _BUILDERS[name.upper()](args)
        except TypeError:
            return _BUILDERS[name.upper()](args, dialect=dialect)

    return build


def _to_date(args: list[exp.Expr], dialect: Dialect) -> exp.Expr:
    """``to_date(s, 'yyyy-MM-dd')``, which takes less than ``to_date(s)``; sqlglot writes the one for the other."""
    if len(args) == 2 and args[1].is_string and args[1].name == "yyyy-MM-dd":
        return as_written("to_date")(args)
    return _of_pattern("to_date")(args, dialect)


def _json_object(args: list[exp.Expr], dialect: Dialect) -> exp.Expr:
    """``get_json_object(j, '$.a.b')``; sqlglot would lose stars in the path, and spell some steps otherwise."""
    plain = len(args) == 2 and args[1].is_string and re.fullmatch(r"\$(\.[A-Za-z_]\w*)*", args[1].name, re.ASCII)
    return _BUILDERS["GET_JSON_OBJECT"](args, dialect) if plain else as_written("get_json_object")(args)


def _sequence(args: list[exp.Expr]) -> exp.Expr:
    """``sequence(1, n)``; where one end is a date, sqlglot would make the other one too."""
    kinds = (exp.Cast, exp.TsOrDsToDate, exp.Interval)
    moments = len(args) > 2 or any(isinstance(each.unnest(), kinds) or each.find(*kinds) for each in args)
    return as_written("sequence")(args) if moments else _BUILDERS["SEQUENCE"](args)


FUNCTIONS: dict[str, Builder] = {
    **{name: build for name, build in _BUILDERS.items() if name.lower() not in FOREIGN_NAMES},
    **{name.upper(): as_written(name) for name in _AS_WRITTEN},
    **{name.upper(): _called(name) for name in ("lcase", "ucase")},
    **{name: _in_parentheses(_BUILDERS[name]) for name in ("RLIKE", "REGEXP_LIKE", "LIKE", "ILIKE")},
    **{name.upper(): _of_pattern(name) for name in ("date_format", "from_unixtime", "to_timestamp", "unix_timestamp")},
    "MOD": _in_parentheses(_called("mod")),
    "TO_DATE": _to_date,
    "DATE_TRUNC": _of_unit("date_trunc", 0),
    "TRUNC": _of_unit("trunc", 1),
    "MAX_BY": _of_two("max_by", exp.ArgMax),
    "MIN_BY": _of_two("min_by", exp.ArgMin),
    "PERCENTILE": _percentile,
    "GET_JSON_OBJECT": _json_object,
    "SEQUENCE": _sequence,
}
_PARSED_BY_ARGUMENTS = frozenset(["MAX_BY", "MIN_BY", "PERCENTILE"])
FUNCTION_PARSERS = {
    name: parse
    for name, parse in SparkParser.FUNCTION_PARSERS.items()
    if name not in _PARSED_BY_ARGUMENTS and name.lower() not in FOREIGN_NAMES
}
