"""The values that a query asks for: random rows hold them often, so that its filters let something through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import duckdb
from sqlglot import exp, parse_one

_RANGES = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
_COMPARED = (*_RANGES, exp.EQ, exp.NEQ, exp.In, exp.Like)
_STEPPED = ("INTEGER", "BIGINT", "DECIMAL", "DATE")


def asked_values(
    connection: duckdb.DuckDBPyConnection, query: str, types: Mapping[str, str]
) -> dict[str, tuple[object, ...]]:
    """Column → the constants it is compared with in the query, and their neighbours where it asks for a range.

    ``types``: the tables' columns with DuckDB's types. A constant that is not of its column's type is left out.
    """
    found: dict[str, dict[object, None]] = {}
    for comparison in parse_one(query, read="duckdb").find_all(*_COMPARED):
        for column, constant in _pairs(comparison):
            type_ = types.get(column)
            if type_ is None:
                continue
            value = constant.sql("duckdb")
            if isinstance(comparison, exp.Like):
                value = exp.Literal.string(constant.name.replace("%", "")).sql("duckdb")
            steps = (0, 1, -1) if isinstance(comparison, _RANGES) and type_.startswith(_STEPPED) else (0,)
            for step in steps:
                moved = f"TRY_CAST(({value}) AS {type_}) + ({step})" if step else value
                row = connection.execute(f"SELECT TRY_CAST(({moved}) AS {type_})").fetchone()
                if row is not None and row[0] is not None:
                    found.setdefault(column, {})[row[0]] = None
    return {column: tuple(values) for column, values in found.items()}


def _pairs(comparison: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    """The columns on one side of a comparison with the constants on the other."""
    this = comparison.this
    others = [comparison.args.get("expression"), comparison.args.get("low"), comparison.args.get("high")]
    others += comparison.args.get("expressions") or []
    for constant in (other for other in others if other is not None):
        for one, other in ((this, constant), (constant, this)):
            if other.find(exp.Column, exp.Query) is None and one.find(exp.Query) is None:
                for column in one.find_all(exp.Column):
                    yield column.name.lower(), other
