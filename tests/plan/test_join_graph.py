"""What the equalities of a query tell about which rows of one table the changes of another meet."""

from __future__ import annotations

import pytest
import sqlglot

from ivm_core.job.compile import compile_view
from ivm_core.plan.join_graph import JoinEdge, join_edges
from ivm_core.plan.schema import TableSchema

TABLES = {
    "s.a": TableSchema("s.a", (("k", "bigint"), ("x", "int"), ("y", "int")), ("k",)),
    "s.b": TableSchema("s.b", (("Ak", "bigint"), ("x", "int"), ("z", "int")), ()),
    "s.c": TableSchema("s.c", (("z", "int"),), ()),
}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT a.y FROM s.a a JOIN s.b b ON a.k = b.ak", [("s.a", ("k",), "s.b", ("ak",))]),
        ("SELECT a.y FROM s.a a, s.b b WHERE b.ak = a.k AND a.x = b.x", [("s.a", ("k", "x"), "s.b", ("ak", "x"))]),
        (
            "SELECT count(*) AS n FROM s.a a JOIN s.b b ON a.k = b.ak JOIN s.c c ON c.z = b.z",
            [("s.a", ("k",), "s.b", ("ak",)), ("s.c", ("z",), "s.b", ("z",))],
        ),
        (
            "SELECT a.y FROM s.a a WHERE EXISTS (SELECT 1 FROM s.b b WHERE b.ak = a.k)",
            [("s.a", ("k",), "s.b", ("ak",))],
        ),
        ("SELECT a.y FROM s.a a JOIN s.b b ON a.x < b.x", []),
        ("SELECT a.y FROM s.a a JOIN s.b b ON a.x + 1 = b.x", []),
        ("SELECT a.y FROM s.a a LEFT JOIN s.c c ON a.x = c.z", [("s.a", ("x",), "s.c", ("z",))]),
    ],
)
def test_edges(query: str, expected: list[tuple[str, tuple[str, ...], str, tuple[str, ...]]]) -> None:
    view = compile_view("v", sqlglot.parse_one(query, read="spark"), TABLES)
    forward = {JoinEdge(*edge) for edge in expected}
    backward = {JoinEdge(edge.other, edge.other_columns, edge.table, edge.columns) for edge in forward}
    assert set(join_edges(view.plan)) == forward | backward


def test_a_self_join_has_edges_to_itself() -> None:
    query = sqlglot.parse_one("SELECT l.y FROM s.a l JOIN s.a r ON l.x = r.y", read="spark")
    edges = join_edges(compile_view("v", query, TABLES).plan)
    assert set(edges) == {JoinEdge("s.a", ("x",), "s.a", ("y",)), JoinEdge("s.a", ("y",), "s.a", ("x",))}
