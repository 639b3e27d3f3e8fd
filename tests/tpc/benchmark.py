"""The queries and tables of TPC-H and TPC-DS, from DuckDB's extension packages: no network, no files of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import duckdb
from sqlglot import exp, parse_one

from ivm_core.plan.schema import TableSchema

Row = tuple[object, ...]

KINDS = ("tpch", "tpcds")
SCHEMA = "default"
_GENERATOR = {"tpch": "CALL dbgen(sf = 0.01)", "tpcds": "CALL dsdgen(sf = 0.01)"}
_COUNT = {"tpch": 22, "tpcds": 99}
_SPARK_TYPES = {"INTEGER": "int", "VARCHAR": "string"}
_MOST_ROWS = 400  # of a table: those that the generator makes at even distances
_PARTS = {"date_dim": "FROM date_dim WHERE d_year BETWEEN 1998 AND 2003 ORDER BY d_date"}


@dataclass(frozen=True)
class Benchmark:
    """Queries by number as DuckDB has them; tables with their columns, types in DuckDB's words, and sample rows."""

    kind: str
    queries: Mapping[int, str]
    types: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, tuple[Row, ...]]

    @property
    def schemas(self) -> dict[str, TableSchema]:
        """The tables as the compiler knows them, ``schema.table``."""
        return {
            f"{SCHEMA}.{table}": TableSchema(
                f"{SCHEMA}.{table}",
                tuple((name, _SPARK_TYPES.get(kind, kind.lower())) for name, kind in columns.items()),
            )
            for table, columns in self.types.items()
        }


def is_installed(kind: str) -> bool:
    """Whether the extension's package is there; it has no wheel for some platforms."""
    return find_spec(f"duckdb_extension_{kind}") is not None


def numbers(kind: str) -> range:
    """The numbers of the benchmark's queries."""
    return range(1, _COUNT[kind] + 1)


@cache
def load(kind: str) -> Benchmark:
    """Read the queries, and generate a sample of each table."""
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        connection.execute("SET threads = 1")
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"LOAD '{_extension(kind)}'")
        connection.execute(_GENERATOR[kind])
        texts = dict(connection.execute(f"SELECT query_nr, query FROM {kind}_queries()").fetchall())
        types: dict[str, dict[str, str]] = {}
        for table, name, type_ in connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
            "ORDER BY table_name, column_index"
        ).fetchall():
            types.setdefault(table, {})[name] = type_
        rows = {table: _sample(connection, table) for table in types}
        queries = {number: without_ties(connection, text) for number, text in texts.items()}
    return Benchmark(kind, queries, types, rows)


def without_ties(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """The query with all its output columns at the end of ORDER BY where it has a LIMIT, so that its rows are certain."""
    tree = parse_one(query, read="duckdb")
    if tree.args.get("limit") is None:
        return tree.sql("duckdb")
    columns = len(connection.execute(f"DESCRIBE {query}").fetchall())
    order = tree.args.get("order") or exp.Order(expressions=[])
    for place in range(1, columns + 1):
        order.append("expressions", exp.Ordered(this=exp.Literal.number(place), nulls_first=False))
    tree.set("order", order)
    return tree.sql("duckdb")


def spark_text(query: str) -> str:
    """A query of DuckDB's as Spark has it."""
    return parse_one(query, read="duckdb").sql("spark")


def _extension(kind: str) -> Path:
    spec = find_spec(f"duckdb_extension_{kind}")
    assert spec is not None and spec.origin is not None
    return next(Path(spec.origin).parent.glob(f"extensions/*/{kind}.duckdb_extension"))


def _sample(connection: duckdb.DuckDBPyConnection, table: str) -> tuple[Row, ...]:
    if table in _PARTS:
        return tuple(connection.execute(_PARTS[table]).fetchall())
    numbered = f"SELECT *, row_number() OVER () AS number, count(*) OVER () AS total FROM {table}"
    step = f"greatest(1, total // {_MOST_ROWS})"
    return tuple(
        connection.execute(f"SELECT * EXCLUDE (number, total) FROM ({numbered}) WHERE number % {step} = 0").fetchall()
    )
