"""Names in a job's SQL are rewritten on the tree: only tables, never CTEs, columns or text."""

from __future__ import annotations

import pytest
import sqlglot

from ivm_core.engine.bindings import rename_tables

NAMES = {"sales_changes": "v1", "shops_after": "v2"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT * FROM sales_changes", "SELECT * FROM v1 AS sales_changes"),
        ("SELECT sales_changes.k FROM sales_changes", "SELECT sales_changes.k FROM v1 AS sales_changes"),
        ("SELECT s.k FROM SALES_CHANGES AS s", "SELECT s.k FROM v1 AS s"),
        (
            "SELECT * FROM sales_changes JOIN shops_after ON a = b",
            "SELECT * FROM v1 AS sales_changes JOIN v2 AS shops_after ON a = b",
        ),
        ("WITH sales_changes AS (SELECT 1 AS k) SELECT * FROM sales_changes", None),
        (
            "WITH c AS (SELECT * FROM sales_changes) SELECT * FROM c",
            "WITH c AS (SELECT * FROM v1 AS sales_changes) SELECT * FROM c",
        ),
        (
            "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM shops_after WHERE shops_after.k = t.k)",
            "SELECT * FROM t WHERE EXISTS(SELECT 1 FROM v2 AS shops_after WHERE shops_after.k = t.k)",
        ),
        (
            "SELECT * FROM sales_changes UNION ALL SELECT * FROM (SELECT * FROM sales_changes) AS x",
            "SELECT * FROM v1 AS sales_changes UNION ALL SELECT * FROM (SELECT * FROM v1 AS sales_changes) AS x",
        ),
        ("SELECT sales_changes FROM other.sales_changes", None),
        ("SELECT 'sales_changes' AS sales_changes FROM t", None),
        (
            "SELECT * FROM sales_changes LEFT SEMI JOIN shops_after ON a = b",
            "SELECT * FROM v1 AS sales_changes LEFT SEMI JOIN v2 AS shops_after ON a = b",
        ),
    ],
)
def test_rename(before: str, after: str | None) -> None:
    tree = sqlglot.parse_one(before, read="spark")
    assert rename_tables(tree, NAMES).sql("spark") == (after or before)
    assert tree.sql("spark") == sqlglot.parse_one(before, read="spark").sql("spark")
