"""Distinct values of a relation that this process holds, found here: a query of Spark's takes ten times as long.

Most batches begin with one: which keys do the changes have? Anything but columns of plain types, and conditions
between them, is left to Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ivm_core.engine.rows_here import are_comparable
from ivm_core.engine.small import SmallRelation

_COMPARED: dict[type[exp.Expr], Callable[[Any, Any], Any]] = {
    exp.EQ: pc.equal,
    exp.NEQ: pc.not_equal,
    exp.LT: pc.less,
    exp.LTE: pc.less_equal,
    exp.GT: pc.greater,
    exp.GTE: pc.greater_equal,
}
# What the query may have beside its columns, its table and its condition.
_PARTS = frozenset({"expressions", "from_", "where", "distinct"})


def distinct_here(query: exp.Expr, small: Mapping[str, SmallRelation]) -> pa.Table | None:
    """The answer of ``SELECT DISTINCT columns FROM relation [WHERE …]``; None of any other query, or rows elsewhere."""
    if not isinstance(query, exp.Select) or any(value for part, value in query.args.items() if part not in _PARTS):
        return None
    distinct, source = query.args.get("distinct"), query.args.get("from_")
    if distinct is None or distinct.args.get("on") is not None or source is None or not query.expressions:
        return None
    rows = _rows(source.this, small)
    if rows is None:
        return None
    if any(column.table not in ("", source.this.alias_or_name) for column in query.find_all(exp.Column)):
        return None  # a field of a struct
    chosen = [_column(item.unalias(), rows) for item in query.expressions]
    where = query.args.get("where")
    kept = _condition(where.this, rows) if where is not None else None
    if any(column is None for column in chosen) or (where is not None and kept is None):
        return None
    found = pa.table(chosen, names=[item.alias_or_name for item in query.expressions])
    return distinct_rows(found if kept is None else found.filter(kept))


def distinct_rows(rows: pa.Table) -> pa.Table:
    """Each row once; of columns whose values are equal here where they are for Spark."""
    # Arrow takes a name with a leading dot for a path.
    names = [f"c{number}" for number in range(rows.num_columns)]
    found = rows.rename_columns(names).group_by(names, use_threads=False).aggregate([])
    return found.select(names).rename_columns(rows.column_names)


def _rows(source: exp.Expr, small: Mapping[str, SmallRelation]) -> pa.Table | None:
    if not isinstance(source, exp.Table) or source.args.get("db") or source.args.get("joins"):
        return None
    found = [relation for name, relation in small.items() if name.lower() == source.name.lower()]
    return found[0].here if len(found) == 1 else None


def _column(item: exp.Expr, rows: pa.Table) -> pa.ChunkedArray | None:
    """A column of the rows whose values are equal here where they are for Spark."""
    if not isinstance(item, exp.Column):
        return None
    places = [place for place, name in enumerate(rows.column_names) if name.lower() == item.name.lower()]
    if len(places) != 1:
        return None
    return rows.column(places[0]) if are_comparable(rows, [rows.column_names[places[0]]]) else None


def _condition(condition: exp.Expr, rows: pa.Table) -> Any:
    """Which rows it holds for, NULL where that is unknown; None of one that is Spark's to evaluate."""
    match condition:
        case exp.Paren():
            return _condition(condition.this, rows)
        case exp.And() | exp.Or():
            sides = [_condition(side, rows) for side in (condition.this, condition.expression)]
            if any(side is None for side in sides):
                return None
            return (pc.and_kleene if isinstance(condition, exp.And) else pc.or_kleene)(*sides)
        case exp.Not():
            inner = _condition(condition.this, rows)
            return None if inner is None else pc.invert(inner)
        case exp.Is(expression=exp.Null()):
            column = _column(condition.this, rows)
            return None if column is None else pc.is_null(column)
    compared = _COMPARED.get(type(condition))
    if compared is None:
        return None
    left, right = _column(condition.this, rows), _column(condition.expression, rows)
    if left is None or right is None or left.type != right.type:
        return None
    return compared(left, right)
