"""Names that a plan's SQL gives capture no column of the query's; equal rows are told apart by whatever they show."""

from __future__ import annotations

import pytest

from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.normalize import normalize
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.to_sql import to_sql

TABLES = {
    table.name: table
    for table in (
        TableSchema("s.g", (("id", "int"), ("s", "string"), ("ranked", "struct<id:int,score:int>"))),
        TableSchema("s.st", (("id", "int"), ("st", "struct<p:int,q:int>"), ("p", "int"))),
        TableSchema("s.l", (("a", "int"), ("b", "int"), ("l", "array<int>"))),
        TableSchema("s.ev", (("id", "int"), ("ts", "timestamp"), ("props", "map<string,string>"), ("v", "variant"))),
    )
}

# query | what its SQL says
CASES = """
SELECT g.ranked.id AS best FROM s.g QUALIFY row_number() OVER (PARTITION BY s ORDER BY id) = 1 | ranked.ranked.id AS best
SELECT st.st.p AS x, p FROM s.st | st.st.p AS x
SELECT st.q AS x, p FROM s.st AS o | st.st.q AS x
WITH RECURSIVE r(n, x) AS (SELECT a, CAST(transform(l, b -> b + l.b) AS ARRAY<INT>) FROM s.l UNION ALL SELECT n + 1, x FROM r WHERE n < 3) SELECT n, x FROM r | b_2 -> b_2 + b
SELECT id, props FROM s.ev QUALIFY row_number() OVER (PARTITION BY id ORDER BY ts) = 1 | ORDER BY ts, CAST(MAP_ENTRIES(props)
SELECT id, v FROM s.ev ORDER BY id LIMIT 1 | CAST(CONCAT(TO_JSON(v), ' ', SCHEMA_OF_VARIANT(v)) AS STRING)
""".strip("\n").splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition(" |")[0])
def test_sql_of(case: str) -> None:
    query, _, expected = case.partition(" | ")
    assert expected in " ".join(to_sql(normalize(from_sql(query, TABLES))).split())
