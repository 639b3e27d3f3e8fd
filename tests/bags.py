"""Two DataFrames compared as bags."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from pyspark.sql import types as t

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST = 20_000
_PLAIN = (
    t.IntegralType,
    t.DecimalType,
    t.FractionalType,
    t.StringType,
    t.DateType,
    t.BooleanType,
    t.NullType,
    t.VariantType,
)


def difference(left: DataFrame, right: DataFrame, rounded: bool = False) -> list[tuple[str, Any]]:
    """The rows of one side that the other lacks, both ways; cells are equal as Spark's keys are.

    It is EXCEPT ALL in both directions, without the planning that takes Spark longer than a test's few rows. What Python has
    no equality for, and what it would take long to fetch, Spark compares itself. ``rounded``: floating-point numbers to six
    digits.
    """
    if not all(_is_plain(field.dataType) for side in (left, right) for field in side.schema.fields):
        return _difference_by_spark(left, right, rounded)
    sides = [side.limit(_MOST + 1).collect() for side in (left, right)]
    if any(len(rows) > _MOST for rows in sides):
        return _difference_by_spark(left, right, rounded)
    found, wanted = (Counter(tuple(_cell(v, rounded) for v in row) for row in rows) for rows in sides)
    more, fewer = found - wanted, wanted - found
    return [("unexpected", row) for row in more.elements()] + [("missing", row) for row in fewer.elements()]


def _is_plain(type_: t.DataType) -> bool:
    match type_:
        case t.ArrayType(elementType=element):
            return _is_plain(element)
        case t.StructType(fields=fields):
            return all(_is_plain(field.dataType) for field in fields)
        case t.MapType(keyType=key, valueType=value):
            return _is_plain(key) and _is_plain(value)
        case t.StringType():
            return type_.isUTF8BinaryCollation()
        case _:
            return isinstance(type_, _PLAIN)


def _cell(value: Any, rounded: bool) -> Any:
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case float():
            return (round(value, 6) if rounded else value) + 0.0  # −0.0 is 0.0
        case tuple() | list():
            return tuple(_cell(each, rounded) for each in value)
        case dict():
            return frozenset((_cell(key, rounded), _cell(each, rounded)) for key, each in value.items())
        case t.VariantVal():
            return repr(value.toPython())  # 1 is not 1.0, nor a date a text
        case _:
            return value


def _difference_by_spark(left: DataFrame, right: DataFrame, rounded: bool) -> list[tuple[str, Any]]:
    if rounded:
        left, right = (
            side.select(*(f.round(c, 6).alias(c) if kind == "double" else f.col(c) for c, kind in side.dtypes))
            for side in (left, right)
        )
    names = [f"c{place}" for place in range(len(left.columns))]
    weighted = [side.toDF(*names).selectExpr("*", f"{weight}L AS w") for side, weight in ((left, 1), (right, -1))]
    # Copies are counted per distinct row: one plan instead of two.
    found = weighted[0].unionAll(weighted[1]).groupBy(*names).sum("w").where("`sum(w)` <> 0")
    return [("unexpected" if row[-1] > 0 else "missing", tuple(row)[:-1]) for row in found.collect()]
