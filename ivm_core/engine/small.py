"""Small relations of a batch: changes and steps, computed once; their values prune what is read next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ivm_core.apply.names import call, col, copies, named, number, signed
from ivm_core.engine.literals import as_text, between, family, membership, widened
from ivm_core.engine.on_demand import Made, made
from ivm_core.engine.queries import fetch_few, frame_of, try_fetch, types_of_rows
from ivm_core.plan.nodes import WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

HERE = 200_000  # rows up to which a relation is held by this process: Spark plans with its exact size, its values are at hand
_PLAIN = ("tinyint", "smallint", "int", "bigint", "boolean", "date", "timestamp", "timestamp_ntz", "string", "binary")

_UNTOLD = "\ufffd"  # stands for bytes that are no UTF-8: which ones, a text from Spark does not tell

# A column is looked through for its distinct values only in relations up to this many times the cap.
_DISTINCT_FACTOR = 20


@dataclass(slots=True)
class ColumnValues:
    """The values of a column as ``literals.as_text`` gives them; ``listed`` is None where they are too many."""

    type: str
    listed: list[Any] | None
    low: Any
    high: Any
    nulls: bool


@dataclass(slots=True)
class SmallRelation:
    """A materialised step or a table's changes, whose values may prune inputs.

    ``values`` may be shared by relations over the same rows; ``names`` are then the shared names of this one's columns.
    """

    made: Made[DataFrame]
    rows: int
    added: int = 0  # copies of rows with positive weight, where rows have weights
    removed: int = 0
    values: dict[str, ColumnValues | None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    here: pa.Table | None = None  # the rows, where this process holds them

    @property
    def frame(self) -> DataFrame:
        """The rows as Spark's."""
        frame = self.made = made(self.made)
        return frame

    def release(self) -> None:
        """Free what Spark keeps of the relation."""
        if self.here is None:
            self.frame.unpersist()

    def types(self) -> dict[str, str]:
        """Columns with their Spark types."""
        if self.here is None:
            return dict(self.frame.dtypes)
        return {field.name: field.dataType.simpleString() for field in types_of_rows(self.here)}

    def known(self, column: str) -> ColumnValues | None:
        """What ``read_values`` found of a column; None where nothing can be said."""
        return self.values.get(self.names.get(column, column))


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Weighted changed rows of a table with how many are added and taken away. ``netted``: no row occurs twice."""

    relation: SmallRelation
    netted: bool

    @property
    def frame(self) -> DataFrame:
        return self.relation.frame

    @property
    def inserted(self) -> int:
        return self.relation.added

    @property
    def deleted(self) -> int:
        return self.relation.removed

    @property
    def rows(self) -> int:
        return self.inserted + self.deleted


def compute(spark: SparkSession, frame: DataFrame, *, few: bool) -> SmallRelation:
    """Compute a relation once. ``few``: it is expected to have no more rows than this process may hold, of plain types."""
    if few:
        try:
            found = fetch_few(frame, HERE)
        except pa.ArrowInvalid:  # a missing struct of fields that are never NULL, which Arrow cannot tell
            return keep(frame)
        if found is not None and _are_plain(found[1]):
            return held(spark, found[0])
    return keep(frame)


def brought_here(spark: SparkSession, kept: SmallRelation) -> SmallRelation:
    """The relation held by this process where it turned out to have few rows, of plain types.

    Many changes may leave few keys: what reads them next then finds their values at hand, as of few changes.
    """
    if kept.here is not None or kept.rows > HERE or not _are_plain(kept.frame.schema):
        return kept
    try:
        found = try_fetch(kept.frame)
    except BaseException:
        kept.release()
        raise
    if found is None:  # few rows, but many bytes
        return kept
    kept.release()
    return held(spark, found[0])


def held(spark: SparkSession, rows: pa.Table) -> SmallRelation:
    """A relation of rows that this process holds, all of plain types."""
    added = removed = 0
    if WEIGHT in rows.column_names and rows.num_rows:
        weights = rows.column(WEIGHT)
        added = pc.sum(pc.max_element_wise(weights, 0)).as_py()
        removed = -pc.sum(pc.min_element_wise(weights, 0)).as_py()
    return SmallRelation(lambda: frame_of(spark, rows), rows.num_rows, added, removed, here=rows)


def net_rows(rows: pa.Table) -> pa.Table | None:
    """Weights summed over equal rows, zeros dropped; None of floating-point columns, whose equality is Spark's."""
    names = [name for name in rows.column_names if name != WEIGHT]
    if not names or any(pa.types.is_floating(rows.schema.field(name).type) for name in names):
        return None
    # Arrow takes a name with a leading dot for a path.
    plain = [f"c{number}" for number in range(len(names))]
    weighted = rows.select([*names, WEIGHT]).rename_columns([*plain, WEIGHT])
    summed = weighted.group_by(plain).aggregate([(WEIGHT, "sum")]).rename_columns([*names, WEIGHT])
    return summed.filter(pc.not_equal(summed.column(WEIGHT), 0))


def keep(frame: DataFrame) -> SmallRelation:
    """Compute a relation once, in memory; its rows are counted in the query that fills the memory."""
    kept = frame.persist()
    try:
        counts = kept.selectExpr(*_counts(kept.columns)).collect()[0]
    except BaseException:
        kept.unpersist()
        raise
    return SmallRelation(kept, counts["rows"], counts["added"], counts["removed"])


def predicate(name: str, relation: str, known: ColumnValues, *, nulls: bool) -> exp.Expr | None:
    """The column is among the known values: an IN list, or a range around them."""
    if known.listed is not None:
        return membership(name, relation, known.listed, known.type, nulls)
    return between(name, relation, *widened(known.low, known.high, known.type), known.type, nulls)


def read_values(relation: SmallRelation, columns: Iterable[str], cap: int) -> None:
    """Fill in the values of the columns not asked for before, in one query."""
    types = relation.types()
    shared = {name: relation.names.get(name, name) for name in columns}
    asked = [name for name, key in shared.items() if key not in relation.values]
    relation.values.update(dict.fromkeys(shared[name] for name in asked))
    asked = [name for name in asked if name in types and family(types[name]) is not None]
    if relation.here is not None:
        for name in asked:
            relation.values[shared[name]] = values_of(relation.here.column(name), types[name], cap)
        return
    if not asked:
        return
    row = relation.frame.selectExpr(*_value_queries(asked, types, relation.rows, cap)).collect()[0]
    for position, name in enumerate(asked):
        low, high, nulls, listed = (row[f"{part}_{position}"] for part in ("low", "high", "nulls", "listed"))
        if any(isinstance(value, str) and _UNTOLD in value for value in (low, high, *(listed or ()))):
            continue
        few = listed is not None and len(listed) <= cap
        if low is None and not few:
            few, listed = True, []
        relation.values[shared[name]] = ColumnValues(types[name], listed if few else None, low, high, bool(nulls))


def values_of(column: pa.ChunkedArray, type_: str, cap: int) -> ColumnValues | None:
    """What predicates and file statistics need of a column's values; ``type_``: its Spark type.

    None where one is no text or no date to Python: bytes that are no UTF-8, years before 1 or after 9999.
    """
    present = column.drop_null()
    distinct = present.unique()
    ends = pc.min_max(present)
    try:
        low, high = (_texts(pa.array([ends[end]], column.type), type_)[0] for end in ("min", "max"))
        listed = _texts(distinct, type_) if len(distinct) <= cap else None
    except (OverflowError, ValueError):  # of the latter is UnicodeDecodeError
        return None
    return ColumnValues(type_, listed, low, high, column.null_count > 0)


def _texts(values: Any, type_: str) -> list[Any]:
    """The values as ``literals.as_text`` gives them."""
    match family(type_):
        case "timestamp":
            return list(values.cast(pa.int64()).to_pylist())
        case "integer" | "string":
            return list(values.to_pylist())
        case "decimal":
            return [None if value is None else f"{value:f}" for value in values.to_pylist()]
        case _:
            return [None if value is None else str(value) for value in values.to_pylist()]


def _are_plain(schema: StructType) -> bool:
    return all(is_plain(column.dataType.simpleString()) for column in schema.fields)


def is_plain(type_: str) -> bool:
    """Whether Arrow's own type tells the Spark type, and both hold the same values."""
    return type_ in _PLAIN or type_ in ("float", "double") or type_.startswith("decimal(")


def _value_queries(names: list[str], types: dict[str, str], rows: int, cap: int) -> list[str]:
    queries = []
    for position, name in enumerate(names):
        text = _readable(as_text(col(name), types[name]), types[name])
        # The extremes are taken before the conversion: numbers and dates do not sort as text.
        low, high = (_readable(as_text(call(end, col(name)), types[name]), types[name]) for end in ("min", "max"))
        nulls = call("count_if", exp.Is(this=col(name), expression=exp.Null()))
        listed: exp.Expr = exp.Null()
        if rows <= cap * _DISTINCT_FACTOR:
            listed = call("slice", call("collect_set", text), number(1), number(cap + 1))
        parts = {"low": low, "high": high, "nulls": exp.GT(this=nulls, expression=number(0)), "listed": listed}
        queries += [exp.alias_(query, f"{part}_{position}").sql("spark") for part, query in parts.items()]
    return queries


def _readable(text: exp.Expr, type_: str) -> exp.Expr:
    """The text with ``_UNTOLD`` for bytes that are no UTF-8, which a client of Spark Connect fails to read."""
    return call("make_valid_utf8", text) if family(type_) == "string" else text


def _counts(columns: list[str]) -> list[str]:
    """Rows, and copies added and removed where rows have weights."""
    rows = named(exp.Count(this=exp.Star()), "rows")
    if WEIGHT in columns:
        return [e.sql("spark") for e in (rows, copies(WEIGHT, "added"), copies(WEIGHT, "removed", removed=True))]
    return [e.sql("spark") for e in (rows, signed(0, "added"), signed(0, "removed"))]
