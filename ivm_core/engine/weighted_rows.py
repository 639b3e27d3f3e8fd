"""Rows with weights as DataFrames: the change feed's, and the sum over equal ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply.names import col, named, number, signed
from ivm_core.engine.model import Relation
from ivm_core.engine.small import is_plain
from ivm_core.engine.snapshots import quoted
from ivm_core.plan.nodes import HIDDEN_PREFIX, WEIGHT
from ivm_core.plan.types import holds_variants

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
_NOT_ZERO = exp.NEQ(this=col(WEIGHT), expression=number(0)).sql("spark")


def net(weighted: DataFrame, relation: Relation, columns: Iterable[str]) -> DataFrame:
    """Weights summed over rows with equal ``columns`` of the relation, zeros dropped. NULL equals NULL, NaN equals NaN.

    −0.0 and 0.0 stay two values, though they are equal: a query may show them as text, and grouping makes them one.
    Rows with a VARIANT stay as they are, for Spark does not compare those.
    """
    names, types = columns_named(relation, columns), dict(relation.columns)
    if any(holds_variants(types[name]) for name in names):
        return weighted
    floating = [name for name in names if types[name] in ("float", "double")]
    if not floating:
        return _summed(weighted, names)
    signs = {name: f"{HIDDEN_PREFIX}sign_{position}" for position, name in enumerate(floating)}
    signed_rows = weighted.selectExpr("*", *(_is_negative_zero(name, sign) for name, sign in signs.items()))
    kept = _summed(signed_rows, [*names, *signs.values()])
    return kept.selectExpr(*(_with_sign(name, signs.get(name)) for name in names), quoted(WEIGHT))


def _summed(weighted: DataFrame, names: Sequence[str]) -> DataFrame:
    summed = weighted.groupBy(*(quoted(name) for name in names)).sum(WEIGHT)
    return summed.toDF(*names, WEIGHT).where(_NOT_ZERO)


def _is_negative_zero(name: str, sign: str) -> str:
    as_text = exp.Like(this=exp.cast(col(name), "string"), expression=exp.Literal.string("-%"))
    return named(exp.and_(exp.EQ(this=col(name), expression=number(0)), as_text), sign).sql("spark")


def _with_sign(name: str, sign: str | None) -> str:
    if sign is None:
        return quoted(name)
    negative = exp.Case(ifs=[exp.If(this=col(sign), true=exp.Neg(this=col(name)))], default=col(name))
    return named(negative, name).sql("spark")


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
