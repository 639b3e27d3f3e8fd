"""Words that Spark reads as an instant where it makes a date or a time of text: 'today', 'now' and their like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import assert_never

from sqlglot import exp

from ivm_core.errors import DefinitionError, NondeterministicError
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    operators,
    sources,
)
from ivm_core.plan.scope import complaint
from ivm_core.plan.types import Type, part_of
from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import types_of

USE_CLOCK = "Use now(), current_date() or localtimestamp() instead."
Types = Mapping[str, Type | None]

_WORDS = frozenset(["now", "today", "tomorrow", "yesterday"])
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
_HOLDS_MOMENTS = re.compile(r"\b(?:date|timestamp|timestamp_ntz)\b(?!:)")
# What takes a date or a time as its ``this``, ``expression`` or ``timestamp``, whatever it is given.
_TAKE_MOMENTS = (
    exp.TsOrDsAdd, exp.TsOrDsToDate, exp.TimeStrToTime, exp.TimestampAdd, exp.TimestampDiff, exp.AddMonths, exp.MonthsBetween,
    exp.LastDay, exp.NextDay, exp.DateTrunc, exp.TimestampTrunc, exp.Extract, exp.Quarter, exp.Hour, exp.Minute, exp.Second,
    exp.Dayname, exp.Monthname, exp.UnixSeconds, exp.UnixMillis, exp.UnixMicros, exp.ConvertTimezone,
)  # fmt: skip
_TAKE_MOMENTS_NAMES = frozenset(
    [
        "date_format", "date_part", "date_trunc", "datepart", "time_bucket", "to_timestamp_ltz", "to_timestamp_ntz", "trunc",
        "try_to_date", "try_to_timestamp", "unix_date", "weekday",
    ]
)  # fmt: skip
# These bring their operands under one type.
_OF_ONE_TYPE = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.EqualNull, exp.Nullif, exp.In,
    exp.Between, exp.Sub, exp.Coalesce, exp.Greatest, exp.Least, exp.Array, exp.GenerateSeries, exp.Lag, exp.Lead,
)  # fmt: skip
# Instants whose type is not known for certain: it may be that with a time zone or that without one.
_MAKE_MOMENTS = (exp.AtTimeZone, exp.FromTimeZone, exp.ConvertTimezone, exp.TimestampFromParts, exp.TimestampAdd)


def check_casts(tree: exp.Expr) -> None:
    """Raise NondeterministicError for a word that is cast whatever stands beside it: ``DATE 'today'``, ``hour('now')``."""
    for literal, word in _words(tree):
        if _is_cast(literal):
            raise _refused(literal, word)


def check_comparisons(plan: Plan, query: exp.Expr) -> None:
    """Raise the same for one beside a date or a time of the plan, which is that of the query: ``d >= 'yesterday'``.

    Beside text it is a text: ``period = 'today'``.
    """
    if next(_words(query), None) is None:
        return
    columns = _columns(plan)
    for node in operators(plan):
        types = {name: type_ for source in sources(node) for name, type_ in types_of(source).items()}
        for expression in _expressions(node):
            named = [(each, *columns[each.name]) for each in expression.find_all(exp.Column) if each.name in columns]
            for value, literal, word in (*((literal, literal, word) for literal, word in _words(expression)), *named):
                if _is_cast(value) or _is_key(value, types) or any(_is_moment(each, types) for each in _beside(value)):
                    raise _refused(literal, word)


def _columns(plan: Plan) -> dict[str, tuple[exp.Literal, str]]:
    """The columns that hold such words: what is computed with one is computed with the literal once they are merged.

    Spark itself fails on them, as it looks for the words before it merges.
    """
    found: dict[str, tuple[exp.Literal, str]] = {}
    for node in reversed(list(operators(plan))):  # inputs first
        for each in node.columns if isinstance(node, Project) else ():
            value = each.expression.unnest()
            if isinstance(value, exp.Literal):
                found.update((each.name, word) for word in _words(value))
            elif isinstance(value, exp.Column) and value.name in found:
                found[each.name] = found[value.name]
    return found


def _words(tree: exp.Expr) -> Iterator[tuple[exp.Literal, str]]:
    """The literals that are such words, perhaps with a time zone. 'epoch' is none: it is the same instant in every run."""
    for literal in tree.find_all(exp.Literal):
        word = "".join(takewhile(str.isalpha, str(literal.this).strip().lower())) if literal.is_string else ""
        if word in _WORDS:
            yield literal, word


def _refused(literal: exp.Literal, word: str) -> DefinitionError:
    message = f"{word!r} as a date or time cannot be used in a view. {USE_CLOCK}"
    return complaint(NondeterministicError, message, literal, word)


def _is_cast(value: exp.Expr) -> bool:
    """Whether what the value stands in makes a date or a time of it."""
    while isinstance(value.parent, exp.Paren):
        value = value.parent
    match value.parent:
        case exp.Cast() as cast:
            return bool(cast.args["to"].is_type(*exp.DataType.TEMPORAL_TYPES))
        case exp.Add() | exp.Sub() as moved:
            return isinstance(moved.this, exp.Interval) or isinstance(moved.expression, exp.Interval)
        case exp.Anonymous() as call:
            return sql_name(call) in _TAKE_MOMENTS_NAMES
        case _ as call:
            return isinstance(call, _TAKE_MOMENTS) and value.arg_key in ("this", "expression", "timestamp")


def _is_key(value: exp.Expr, types: Types) -> bool:
    """Whether it is looked up in a map by dates or times."""
    above = value.parent
    return isinstance(above, exp.Bracket) and part_of(type_of(above.this, types), exp.DType.MAP, 0) in _MOMENTS


def _beside(value: exp.Expr) -> list[exp.Expr]:
    """The expressions with which Spark brings one under a common type, itself among them."""
    parent, key = value.parent, value.arg_key
    match parent:
        case exp.Paren():
            return _beside(parent)
        case exp.If(parent=exp.Case() as case):
            return _results(case) if key == "true" else [case.this] if case.this is not None else []
        case exp.Case():
            return _results(parent) if key == "default" else [branch.this for branch in parent.args["ifs"]]
        case exp.If() | exp.Nvl2():
            return [parent.args[each] for each in ("true", "false") if parent.args.get(each) is not None]
        case exp.DecodeCase():  # decode(x, search, result, search, result, default)
            last = len(parent.expressions) - 1
            searched = [at == 0 or (at % 2 == 1 and at < last) for at in range(last + 1)]
            alike = searched[value.index or 0]
            return [each for each, is_key in zip(parent.expressions, searched, strict=True) if is_key == alike]
        case exp.Anonymous() if sql_name(parent) == "sequence":
            return list(parent.expressions)
        case _ if isinstance(parent, _OF_ONE_TYPE):
            return list(parent.iter_expressions())
    return []


def _results(case: exp.Case) -> list[exp.Expr]:
    default = case.args.get("default")
    return [*(branch.args["true"] for branch in case.args["ifs"]), *([default] if default is not None else [])]


def _is_moment(node: exp.Expr, types: Types) -> bool:
    """Whether an expression is a date or a time; where its type is not known, by what it is made of."""
    bare = node.unnest()
    known = type_of(bare, types)
    if known is not None:
        return known in _MOMENTS
    match bare:
        case exp.Add() | exp.Sub():
            return _is_moment(bare.this, types) or _is_moment(bare.expression, types)
        case exp.Identifier():  # the parameter of a lambda function
            function = bare.find_ancestor(exp.Lambda)
            above = function.parent if function is not None else None
            given = [type_of(each, types) for each in above.iter_expressions()] if above is not None else []
            return any(type_ is not None and _HOLDS_MOMENTS.search(type_) for type_ in given)
        case exp.Anonymous():
            return "timestamp" in sql_name(bare) or sql_name(bare) in ("try_to_date", "time_bucket")
        case _:
            return isinstance(bare, _MAKE_MOMENTS)


def _expressions(plan: Plan) -> list[exp.Expression]:
    match plan:
        case Project(_, columns) | Window(_, columns):
            return [each.expression for each in columns]
        case Aggregate(_, keys, aggregates):
            return [each.expression for each in (*keys, *aggregates)]
        case Filter(_, condition):
            return [condition]
        case Join(_, _, _, on):
            return [on] if on is not None else []
        case Generate(_, generator):
            return [generator]
        case Limit(_, order):
            return list(order)
        case Values(_, _, rows):
            return [value for row in rows for value in row]
        case Scan() | Changes() | Round() | Distinct() | UnionAll() | SetOperation() | Recursive():
            return []
        case _:
            assert_never(plan)
