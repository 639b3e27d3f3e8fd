"""Rows with weights as DataFrames: the change feed's, and the sum over equal ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply.names import col, named, number, signed
from ivm_core.engine.model import Relation
from ivm_core.engine.small import is_plain
from ivm_core.engine.snapshots import quoted
from ivm_core.plan.comparable import as_shown
from ivm_core.plan.nodes import HIDDEN_PREFIX, WEIGHT
from ivm_core.plan.types import FRACTIONAL, holds_floating, holds_variants, is_comparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ADDED = "_change_type IN ('insert', 'update_postimage')"
REMOVED = "_change_type IN ('delete', 'update_preimage')"
WEIGHT_OF_CHANGE = named(
    exp.Case(
        ifs=[exp.If(this=exp.maybe_parse(ADDED, dialect="spark"), true=exp.cast(number(1), "bigint"))],
        default=exp.cast(number(-1), "bigint"),
    ),
    WEIGHT,
).sql("spark")
_NEGATIVE = exp.Literal.string("-%")
_NOT_ZERO = exp.NEQ(this=col(WEIGHT), expression=number(0)).sql("spark")


def net(weighted: DataFrame, relation: Relation, columns: Iterable[str]) -> DataFrame:
    """Weights summed over rows with equal ``columns`` of the relation, zeros dropped. NULL equals NULL, NaN equals NaN.

    −0.0 and 0.0 stay two values, though they are equal, and so do maps with entries in another order: a query may show them
    as text, and grouping makes them one. Rows with a VARIANT stay as they are, for Spark does not compare those.
    """
    names, types = columns_named(relation, columns), dict(relation.columns)
    odd = {name: _told_apart_by(name, types[name]) for name in names if not _is_shown_by_its_group(types[name])}
    if any(holds_variants(types[name]) for name in names) or None in odd.values():
        return weighted
    if not odd:
        return weighted.groupBy(*map(quoted, names)).sum(WEIGHT).toDF(*names, WEIGHT).where(_NOT_ZERO)
    parts = [part for parts in odd.values() for part in parts or ()]
    hidden = {f"{HIDDEN_PREFIX}part_{place}": part for place, part in enumerate(parts)}
    shown = {name: f"{HIDDEN_PREFIX}shown_{place}" for place, name in enumerate(odd)}
    copies = (named(expression, name).sql("spark") for name, expression in hidden.items())
    rows = weighted.selectExpr("*", *copies, *(named(col(name), copy).sql("spark") for name, copy in shown.items()))
    groups = rows.groupBy(*(quoted(name) for name in names if name not in odd), *hidden)
    summed = groups.agg({**dict.fromkeys(shown.values(), "first"), WEIGHT: "sum"})
    firsts = (named(col(f"first({shown[name]})" if name in odd else name), name) for name in names)
    weights = named(col(f"sum({WEIGHT})"), WEIGHT)
    return summed.selectExpr(*(each.sql("spark") for each in (*firsts, weights))).where(_NOT_ZERO)


def _is_shown_by_its_group(type_: str) -> bool:
    """Whether Spark's GROUP BY takes only such values for one as are shown alike."""
    return is_comparable(type_) and not holds_floating(type_)


def _told_apart_by(name: str, type_: str) -> tuple[exp.Expr, ...] | None:
    """What is the same only where a column's values are shown alike; None where no such expressions are known."""
    made, text = as_shown(col(name), type_), exp.cast(col(name), "string")
    if made is None:
        return None
    if not holds_floating(type_):
        return (made,)
    if type_ not in FRACTIONAL:
        return made, text
    return made, exp.and_(exp.EQ(this=col(name), expression=number(0)), exp.Like(this=text, expression=_NEGATIVE))


def columns_named(relation: Relation, columns: Iterable[str]) -> list[str]:
    """The columns, in any case, as the relation names them, in its order."""
    wanted = {name.lower() for name in columns}
    return [name for name, _ in relation.columns if name.lower() in wanted]


def selected(relation: Relation, columns: Iterable[str]) -> list[str]:
    """The same, quoted."""
    return [quoted(name) for name in columns_named(relation, columns)]


def all_plain(relation: Relation, columns: Iterable[str]) -> bool:
    """Whether Arrow's own types tell the columns' Spark types."""
    wanted = {name.lower() for name in columns}
    return all(is_plain(type_) for name, type_ in relation.columns if name.lower() in wanted)


def weight(sign: int) -> str:
    """The weight column of rows that all have this weight."""
    return signed(sign, WEIGHT).sql("spark")
