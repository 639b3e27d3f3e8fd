"""Values of a small relation's column as literals of exactly its type, for predicates that Delta Lake can prune by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from ivm_core.apply.names import call, col, to_type

# In the text of a query Spark puts a setting's value, or nothing, for ${name}; and digits after \0 make another character.
_ODD = re.compile(r"\$\{|\x00")
_BITS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}
_SUFFIXES = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}  # of Spark's literals of these types
INTEGERS = frozenset(_BITS)

# A range of integers is widened at either end by up to a 16th of its larger end, and by no more than this.
_MOST_WIDENED = 2**19
_WIDENED_BITS = 5


def family(type_: str) -> str | None:
    """Types of one family compare without a cast of the column; None: no literals are made of this type.

    Floating point is left out: NaN and −0.0 do not survive as literals of a set.
    """
    plain = type_.partition("(")[0]
    if plain in INTEGERS:
        return "integer"
    if plain in ("decimal", "date", "timestamp", "timestamp_ntz"):
        return plain
    return "string" if plain in ("string", "varchar") and "collate" not in type_ else None


def as_text(column: exp.Expr, type_: str) -> exp.Expr:
    """The SQL that turns a value into the text (or number) that ``literal`` reads back, whatever the time zone."""
    match family(type_):
        case "integer" | "string":
            return column
        case "timestamp":
            # Local time is ambiguous when clocks go back.
            return call("unix_micros", column)
        case _:
            return to_type(column, "string")


def literal(value: Any, type_: str) -> exp.Expr:
    """A typed literal from what ``as_text`` gave."""
    match family(type_):
        case "integer":
            if value <= -(1 << _BITS[type_]):  # the smallest has no positive counterpart
                return to_type(exp.Literal.string(str(value)), type_)
            # Not a cast of a number: there are thousands in a list, and each cast is built, written, read and folded.
            number = exp.Literal.number(f"{abs(value)}{_SUFFIXES[type_]}")
            return exp.Neg(this=number) if value < 0 else number
        case "string" if _ODD.search(value):
            return exp.cast(exp.HexString(this=value.encode("utf-8").hex()), "string")
        case "string":
            return exp.Literal.string(str(value))
        case "timestamp":
            return call("timestamp_micros", to_type(exp.Literal.string(str(value)), "bigint"))
        case _:
            return to_type(exp.Literal.string(str(value)), type_)


def membership(name: str, relation: str, values: Sequence[Any], type_: str, nulls: bool) -> exp.Expr:
    """``name IN (values)``, or also NULL where ``nulls``; FALSE of no values."""
    column = col(name, relation)
    missing: exp.Expr = exp.Is(this=column.copy(), expression=exp.Null()) if nulls else exp.false()
    if not values:
        return missing
    listed = exp.In(this=column, expressions=[literal(value, type_) for value in values])
    return exp.Paren(this=exp.or_(listed, missing)) if nulls else listed


def widened(low: Any, high: Any, type_: str) -> tuple[Any, Any]:
    """A range around the given one whose ends stay the same from batch to batch, where they are integers.

    Spark writes the numbers of a condition into the class that it generates for a scan. Of ends that move with every batch
    each would have such a class compiled anew, first by Spark and then, as it runs, twice by Java.

    >>> widened(1_146_003, 1_155_999, "bigint")
    (1114112, 1179648)
    """
    if type_ not in INTEGERS:
        return low, high
    step = min(1 << max(0, max(abs(low), abs(high)).bit_length() - _WIDENED_BITS), _MOST_WIDENED)
    least, most = -(1 << _BITS[type_]), (1 << _BITS[type_]) - 1
    return max(low // step * step, least), min(-(-high // step) * step, most)


def between(name: str, relation: str, low: Any, high: Any, type_: str, nulls: bool) -> exp.Expr:
    """``name BETWEEN low AND high``, or also NULL where ``nulls``."""
    column = col(name, relation)
    within = exp.Between(this=column, low=literal(low, type_), high=literal(high, type_))
    if not nulls:
        return within
    return exp.Paren(this=exp.or_(within, exp.Is(this=column.copy(), expression=exp.Null())))
