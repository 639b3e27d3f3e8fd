"""Names in a job's SQL are rewritten on the tree: only tables, never CTEs, columns or text."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot

from ivm_core.engine.bindings import Bindings, rename_tables

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


class Frame:
    """A DataFrame that notes the names it is given."""

    def __init__(self) -> None:
        self.named: list[str] = []

    def createOrReplaceTempView(self, name: str) -> None:  # noqa: N802
        self.named.append(name)


class Spark:
    """A session that notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sql(self, text: str) -> str:
        self.asked.append(text)
        return text


def test_a_view_is_made_when_a_query_first_reads_the_frame() -> None:
    spark, frame, unread = Spark(), Frame(), Frame()
    bindings = Bindings(spark)  # type: ignore[arg-type]
    bindings.bind("t", frame)  # type: ignore[arg-type]
    bindings.bind("u", unread)  # type: ignore[arg-type]
    bindings.define("shown", sqlglot.parse_one("SELECT a AS b FROM t", read="spark"))
    assert frame.named == []
    bindings.run("SELECT b FROM shown")
    bindings.run("SELECT b FROM shown WHERE b > 1")
    (view,) = frame.named
    assert (
        spark.asked[0]
        == f"WITH __ivm_common_0 AS (SELECT a AS b FROM {view} AS t) SELECT b FROM __ivm_common_0 AS shown"
    )
    assert unread.named == []


def test_what_no_query_reads_is_not_made() -> None:
    made: list[str] = []

    def frame() -> Frame:
        made.append("frame")
        return Frame()

    def query() -> Any:
        made.append("query")
        return sqlglot.parse_one("SELECT a AS b FROM t", read="spark")

    bindings = Bindings(Spark())  # type: ignore[arg-type]
    bindings.bind("t", frame)  # type: ignore[arg-type]
    bindings.define("shown", query)
    bindings.run("SELECT 1 AS one")
    assert made == []
    bindings.run("SELECT b FROM shown")
    bindings.run("SELECT b FROM shown JOIN t")
    assert made == ["query", "frame"]


def test_a_name_bound_anew_replaces_the_view() -> None:
    first, second = Frame(), Frame()
    bindings = Bindings(Spark())  # type: ignore[arg-type]
    bindings.bind("t", first)  # type: ignore[arg-type]
    bindings.run("SELECT * FROM t")
    bindings.bind("t", second)  # type: ignore[arg-type]
    bindings.run("SELECT * FROM t")
    assert second.named == first.named != []


def test_queries_of_queries_are_written_once_and_before_the_readers_own() -> None:
    spark = Spark()
    bindings = Bindings(spark)  # type: ignore[arg-type]
    bindings.define("changes", sqlglot.parse_one("SELECT a AS x FROM shared", read="spark"))
    bindings.define(
        "both", sqlglot.parse_one("SELECT x FROM changes UNION ALL SELECT x + 1 FROM Changes", read="spark")
    )
    bindings.run(
        "WITH changes AS (SELECT x FROM both), more AS (SELECT x FROM changes) "
        "SELECT x FROM more WHERE EXISTS (SELECT 1 FROM both WHERE both.x = more.x)"
    )
    assert spark.asked == [
        "WITH __ivm_common_0 AS (SELECT a AS x FROM shared), "
        "__ivm_common_1 AS (SELECT x FROM __ivm_common_0 AS changes UNION ALL SELECT x + 1 FROM __ivm_common_0 AS Changes), "
        "changes AS (SELECT x FROM __ivm_common_1 AS both), more AS (SELECT x FROM changes) "
        "SELECT x FROM more WHERE EXISTS(SELECT 1 FROM __ivm_common_1 AS both WHERE both.x = more.x)"
    ]


def test_few_rows_go_along_with_the_queries_of_a_connect_client() -> None:
    client = type("Client", (Spark,), {"__module__": "pyspark.sql.connect.session"})()
    rows, frame = Frame(), Frame()
    rows._plan = None  # type: ignore[attr-defined]
    bindings = Bindings(client)
    bindings.bind("few", rows, few=True)  # type: ignore[arg-type]
    bindings.define("shown", sqlglot.parse_one("SELECT a FROM few", read="spark"))
    plan: Any = bindings.run("SELECT s.a FROM shown AS s JOIN few ON s.a = few.a")._plan
    assert rows.named == []
    (carried,) = plan._views
    assert plan._query == (
        f"WITH __ivm_common_0 AS (SELECT a FROM {carried._alias} AS few) "
        f"SELECT s.a FROM __ivm_common_0 AS s JOIN {carried._alias} AS few ON s.a = few.a"
    )
    assert bindings.view("few") == carried._alias
    assert rows.named == [carried._alias]
    bindings.bind("few", frame)  # type: ignore[arg-type]
    assert bindings.run("SELECT a FROM few")._plan._views == []  # type: ignore[attr-defined]
    assert frame.named == [carried._alias]
