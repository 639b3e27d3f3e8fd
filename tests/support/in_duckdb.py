"""The examples' tables and functions in DuckDB."""

from __future__ import annotations

import duckdb

from tests.job.duckdb_jobs import connect
from tests.support.constructs import CONSTRUCTS, TABLES

IN_DUCKDB = tuple(construct for construct in CONSTRUCTS if not construct.on_spark_only)
SCHEMAS = {name: table.columns for name, table in TABLES.items() if name != "shop.doc"}
_MACROS = "twice(x) AS 2 * x", "shout(x) AS upper(coalesce(x, '?'))", "middle(x) AS median(x)"


def connect_examples() -> duckdb.DuckDBPyConnection:
    """A database with empty tables for both states of every base table, and the user's functions."""
    connection = connect(SCHEMAS)
    for macro in _MACROS:
        connection.execute(f"CREATE MACRO {macro}")
    return connection
