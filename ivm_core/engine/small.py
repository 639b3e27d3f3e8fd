"""Small relations of a batch: changes and steps, computed once; their values prune what is read next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ivm_core.apply.names import call, col, copies, named, number, signed
from ivm_core.engine.literals import as_text, between, family, membership
from ivm_core.plan.nodes import WEIGHT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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

    frame: DataFrame
    rows: int
    added: int = 0  # copies of rows with positive weight, where rows have weights
    removed: int = 0
    values: dict[str, ColumnValues | None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def known(self, column: str) -> ColumnValues | None:
        """What ``read_values`` found of a column; None where nothing can be said."""
        return self.values.get(self.names.get(column, column))


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
    """The column is among the known values: an IN list, or the range of them."""
    if known.listed is not None:
        return membership(name, relation, known.listed, known.type, nulls)
    return between(name, relation, known.low, known.high, known.type, nulls)


def read_values(relation: SmallRelation, columns: Iterable[str], cap: int) -> None:
    """Fill in the values of the columns not asked for before, in one query."""
    types = dict(relation.frame.dtypes)
    shared = {name: relation.names.get(name, name) for name in columns}
    asked = [name for name, key in shared.items() if key not in relation.values]
    relation.values.update(dict.fromkeys(shared[name] for name in asked))
    asked = [name for name in asked if name in types and family(types[name]) is not None]
    if not asked:
        return
    row = relation.frame.selectExpr(*_value_queries(asked, types, relation.rows, cap)).collect()[0]
    for position, name in enumerate(asked):
        low, high, nulls, listed = (row[f"{part}_{position}"] for part in ("low", "high", "nulls", "listed"))
        few = listed is not None and len(listed) <= cap
        if low is None and not few:
            few, listed = True, []
        relation.values[shared[name]] = ColumnValues(types[name], listed if few else None, low, high, bool(nulls))


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


def _counts(columns: list[str]) -> list[str]:
    """Rows, and copies added and removed where rows have weights."""
    rows = named(exp.Count(this=exp.Star()), "rows")
    if WEIGHT in columns:
        return [e.sql("spark") for e in (rows, copies(WEIGHT, "added"), copies(WEIGHT, "removed", removed=True))]
    return [e.sql("spark") for e in (rows, signed(0, "added"), signed(0, "removed"))]
