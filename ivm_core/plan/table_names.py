"""The tables that a query names."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.errors import InvalidNameError
from ivm_core.plan.cte_names import cte_of

# Spark reads `format`.`path` as a file, whatever the catalogue says.
FILE_FORMATS = frozenset({"avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text", "xml"})


def tables_of(query: exp.Expr) -> tuple[str, ...]:
    """The tables that a query names, CTEs aside, as ``schema.table`` in lower case. Raises InvalidNameError for a path."""
    names: set[str] = set()
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or cte_of(table) is not None:
            continue
        if table.db.lower() in FILE_FORMATS or "/" in table.name:
            raise InvalidNameError(
                f"A view reads tables by name, not files: {table.db}.`{table.name}`. Register the table first.",
                construct=table.name,
            )
        names.add(f"{table.db or 'default'}.{table.name}".lower())
    return tuple(sorted(names))
