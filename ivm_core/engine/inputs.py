"""A job's inputs as DataFrames: the right slice, its columns under the job's names, pruned by the values of small steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ivm_core.apply.names import all_of, call, col, named, number
from ivm_core.batch.model import Batch, TableRange
from ivm_core.engine.changes import ChangeCache, ChangedRows
from ivm_core.engine.literals import as_text, between, family, membership
from ivm_core.engine.model import Relation
from ivm_core.errors import BaseTableError
from ivm_core.job.model import Input, Slice
from ivm_core.plan.nodes import WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A column is looked through for its distinct values only in relations up to this many times the cap.
_DISTINCT_FACTOR = 20


@dataclass(frozen=True, slots=True)
class Sources:
    """What a batch reads: its exact ranges, the relations by name, and the run's cache of changes and snapshots."""

    batch: Batch
    relations: Mapping[str, Relation]
    cache: ChangeCache

    def relation(self, table: str) -> Relation:
        """The relation of a base table. Raises ``BaseTableError`` where it is unknown."""
        try:
            return self.relations[table]
        except KeyError:
            raise BaseTableError(f"The table {table} is not known to this run.") from None

    def range(self, table: str) -> TableRange:
        """The versions that the batch covers of a base table. Raises ``BaseTableError`` where it has none."""
        for item in self.batch.ranges:
            if item.table == table:
                return item
        raise BaseTableError(f"Batch {self.batch.number} of {self.batch.view} has no versions of {table}.")

    def changes(self, item: Input) -> ChangedRows:
        """The changes behind a CHANGES input, in the relation's own column names."""
        names = tuple(column.source for column in item.columns)
        return self.cache.read(self.relation(item.table), self.range(item.table), names)


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
    """A materialised step or a table's changes, whose values may prune inputs."""

    frame: DataFrame
    rows: int
    added: int = 0  # copies of rows with positive weight, where rows have weights
    removed: int = 0
    values: dict[str, ColumnValues | None] = field(default_factory=dict)


def open_input(item: Input, sources: Sources) -> DataFrame:
    """The slice that an input names, without bounds."""
    if item.slice is Slice.CHANGES:
        return sources.changes(item).frame.selectExpr(*_renamed(item), WEIGHT)
    covered = sources.range(item.table)
    version = covered.from_version if item.slice is Slice.BEFORE else covered.to_version
    return sources.cache.snapshots.read(sources.relation(item.table), version).selectExpr(*_renamed(item))


def bound_input(frame: DataFrame, item: Input, small: Mapping[str, SmallRelation], cap: int) -> DataFrame:
    """The input without the rows that its bounds rule out."""
    types = {column.name: column.type for column in item.columns}
    wanted: dict[str, list[str]] = {}
    for bound in item.bounds:
        if bound.step in small:
            wanted.setdefault(bound.step, []).append(bound.step_column)
    for step, columns in wanted.items():
        read_values(small[step], columns, cap)
    conditions = []
    for bound in item.bounds:
        known = small[bound.step].values.get(bound.step_column) if bound.step in small else None
        if known is not None and family(types.get(bound.column, "")) == family(known.type):
            condition = predicate(bound.column, "", known, nulls=bound.null_safe and known.nulls)
            if condition is not None:
                conditions.append(condition)
    return frame.where(all_of(conditions).sql("spark")) if conditions else frame


def predicate(name: str, relation: str, known: ColumnValues, *, nulls: bool) -> exp.Expr | None:
    """The column is among the known values: an IN list, or the range of them."""
    if known.listed is not None:
        return membership(name, relation, known.listed, known.type, nulls)
    return between(name, relation, known.low, known.high, known.type, nulls)


def read_values(relation: SmallRelation, columns: list[str], cap: int) -> None:
    """Fill in the values of the columns not asked for before, in one query."""
    types = dict(relation.frame.dtypes)
    asked = [name for name in dict.fromkeys(columns) if name not in relation.values]
    relation.values.update(dict.fromkeys(asked))
    asked = [name for name in asked if name in types and family(types[name]) is not None]
    if not asked:
        return
    row = relation.frame.selectExpr(*_value_queries(asked, types, relation.rows, cap)).collect()[0]
    for position, name in enumerate(asked):
        low, high, nulls, listed = (row[f"{part}_{position}"] for part in ("low", "high", "nulls", "listed"))
        few = listed is not None and len(listed) <= cap
        if low is None and not few:
            few, listed = True, []
        relation.values[name] = ColumnValues(types[name], listed if few else None, low, high, bool(nulls))


def _value_queries(names: list[str], types: dict[str, str], rows: int, cap: int) -> list[str]:
    queries = []
    for position, name in enumerate(names):
        text = as_text(col(name), types[name])
        # The extremes are taken before the conversion: numbers and dates do not sort as text.
        low, high = (as_text(call(end, col(name)), types[name]) for end in ("min", "max"))
        nulls = call("count_if", exp.Is(this=col(name), expression=exp.Null()))
        listed: exp.Expr = exp.Null()
        if rows <= cap * _DISTINCT_FACTOR:
            listed = call("slice", call("collect_set", text), number(1), number(cap + 1))
        parts = {"low": low, "high": high, "nulls": exp.GT(this=nulls, expression=number(0)), "listed": listed}
        queries += [exp.alias_(query, f"{part}_{position}").sql("spark") for part, query in parts.items()]
    return queries


def _renamed(item: Input) -> list[str]:
    return [named(col(column.source), column.name).sql("spark") for column in item.columns]
