"""Rows with weights as DataFrames: the change feed's, and the sum over equal ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply.names import col, named, number, signed
from ivm_core.engine.model import Relation
from ivm_core.engine.small import is_plain
from ivm_core.engine.snapshots import quoted
from ivm_core.plan.nodes import WEIGHT

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


def net(weighted: DataFrame, names: Sequence[str]) -> DataFrame:
    """Weights summed over rows with equal ``names``, zeros dropped. NULL equals NULL, NaN equals NaN, −0.0 equals 0.0."""
    summed = weighted.groupBy(*(quoted(name) for name in names)).sum(WEIGHT)
    return summed.toDF(*names, WEIGHT).where(_NOT_ZERO)


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
