"""The tables that a query reads, by the text alone: a name is a CTE's only where that CTE is seen."""

from __future__ import annotations

import pytest

from ivm_core.errors import InvalidNameError
from ivm_core.plan.statement import read_select
from ivm_core.plan.table_names import tables_of

# query | the tables
READS = """
SELECT a FROM t | default.t
SELECT T.a FROM S.T JOIN t USING (a) | default.t, s.t
WITH q AS (SELECT a FROM t) SELECT a FROM q | default.t
WITH orders AS (SELECT * FROM orders WHERE amount > 0) SELECT count(*) AS n FROM orders | default.orders
WITH t AS (SELECT a FROM s.t) SELECT a FROM t JOIN s.t AS u USING (a) | s.t
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM u) SELECT * FROM a CROSS JOIN b | default.b, default.u
SELECT a FROM t WHERE a IN (WITH t AS (SELECT k AS a FROM u) SELECT a FROM t) | default.t, default.u
SELECT * FROM (WITH t AS (SELECT 1 AS a) SELECT a FROM t) q |
WITH q AS (SELECT a FROM t) SELECT (WITH q AS (SELECT k FROM q) SELECT max(k) FROM q) AS m FROM u | default.t, default.u
WITH q AS (WITH t AS (SELECT k FROM u) SELECT k FROM t) SELECT k FROM q JOIN t ON q.k = t.a | default.t, default.u
WITH RECURSIVE t(a) AS (SELECT k FROM u UNION ALL SELECT a + 1 FROM t WHERE a < 3) SELECT a FROM t | default.u
WITH q AS (SELECT a FROM t) SELECT a FROM q UNION ALL SELECT a FROM t | default.t
SELECT a FROM t, LATERAL (WITH u AS (SELECT 1 AS k) SELECT k FROM u) l | default.t
""".strip("\n").splitlines()


@pytest.mark.parametrize("case", READS, ids=lambda case: case.partition(" |")[0])
def test_tables_of_a_query(case: str) -> None:
    sql, _, tables = case.partition(" |")
    assert ", ".join(tables_of(read_select(sql))) == tables.strip()


def test_files_are_no_tables() -> None:
    with pytest.raises(InvalidNameError):
        tables_of(read_select("SELECT a FROM parquet.`/data/t`"))
