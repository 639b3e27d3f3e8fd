"""Where the blanks of CHAR columns are written into comparisons, and where Spark is kept from adding them."""

from __future__ import annotations

import pytest

from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.normalize import normalize
from ivm_core.plan.padding import pad_texts
from ivm_core.plan.schema import TableSchema

TABLES = {
    table.name: table
    for table in (
        TableSchema("s.p", (("id", "int"), ("c", "char(5)"), ("v", "varchar(5)"), ("b", "boolean"))),
        TableSchema("s.l", (("id", "int"), ("d", "char(10)"), ("t", "string"))),
    )
}

# query | what its plan says
CASES = """
SELECT c = 'ab' AS x FROM s.p | x = c = 'ab   '
SELECT 'ab' < (c) AS x FROM s.p | x = 'ab   ' < c
SELECT c = 'ab     ' AS x FROM s.p | x = RPAD(c, 7, ' ') = 'ab     '
SELECT c IN ('ab', 'longer') AS x FROM s.p | x = RPAD(c, 6, ' ') IN ('ab    ', 'longer')
SELECT c IN ('ab', c) AS x FROM s.p | x = c IN ('ab', c)
SELECT CASE c WHEN 'ab' THEN 1 ELSE 2 END AS x FROM s.p | x = CASE WHEN c = 'ab   ' THEN 1 ELSE 2 END
SELECT c = lower('AB') AS x FROM s.p | LENGTH(LOWER('AB'))), ' ')
SELECT c BETWEEN 'ab' AND 'b' AS x FROM s.p | x = c BETWEEN 'ab' AND 'b'
SELECT v = 'ab' AS x FROM s.p | x = v = 'ab'
SELECT rtrim(c) = 'ab' AS x FROM s.p | x = RTRIM(c) = 'ab'
SELECT k = 'ab' AS x FROM (SELECT c AS k, count(*) AS n FROM s.p GROUP BY c) WHERE n > 1 | x = c = 'ab   '
SELECT max(c) = 'ab' AS x FROM s.p | = 'ab'
SELECT t = 'ab' AS x FROM s.l | x = t = 'ab'
SELECT t = d AS x FROM s.l | x = t = d
SELECT p.id FROM s.p JOIN s.l ON c = d | on RPAD(c, 10, ' ') = d
SELECT p.id FROM s.p JOIN s.p AS q ON p.c = q.c | on p_c = q_c
SELECT id FROM s.p WHERE EXISTS (SELECT 1 FROM s.l WHERE d = c) | on d = RPAD(c, 10, ' ')
SELECT id FROM s.p WHERE c IN (SELECT d FROM s.l) | on CONCAT(c) = CONCAT(d)
SELECT id FROM s.p WHERE c IN (SELECT q.c FROM s.p AS q) | on p_c = q_c
SELECT id FROM s.l WHERE 'ab' IN (SELECT c FROM s.p) | 'ab' = CONCAT(c)
SELECT c FROM s.p UNION ALL SELECT d FROM s.l | CONCAT(d)
SELECT t FROM s.l UNION ALL SELECT c FROM s.p | CONCAT(c)
SELECT c = 'ab' AS x FROM (SELECT c FROM s.p UNION ALL SELECT t FROM s.l) | x = p_c = 'ab   '
SELECT equal_null(c, 'ab') AS x FROM s.p | x = EQUAL_NULL(c, 'ab   ')
SELECT c IN ('ab', NULL) AS x FROM s.p | x = c IN ('ab   ', NULL)
SELECT decode(c, 'ab', 'x', 'cd', 'y', 'z') AS x FROM s.p | x = DECODE(c, 'ab   ', 'x', 'cd   ', 'y', 'z')
SELECT 'ab' IN (c) AS x FROM s.p | x = 'ab' IN (CONCAT(c))
SELECT CASE b OR id = 1 WHEN FALSE THEN c ELSE 'x' END AS x FROM s.p | CASE b OR id = 1 WHEN FALSE THEN c ELSE 'x' END
SELECT CASE c WHEN 'a' OR b THEN 1 END AS x FROM s.p | WHEN c = ('a' OR b) THEN 1
SELECT id FROM s.p WHERE c = (SELECT max(d) FROM s.l) | c = CONCAT(
SELECT id FROM s.p WHERE c = (SELECT d FROM s.l ORDER BY d LIMIT 1) | c = CONCAT(d)
SELECT id, (SELECT d FROM s.l WHERE l.id = p.id ORDER BY d LIMIT 1) = 'ab' AS x FROM s.p | CONCAT(
SELECT c, id, c = 'ab' AS x, count(*) AS n FROM s.p GROUP BY GROUPING SETS ((id), (c)) | = 'ab   '
SELECT * FROM (SELECT id, c FROM s.p) PIVOT (sum(id) FOR c IN ('ab' AS ab)) | CONCAT(c) IS NOT DISTINCT FROM CAST('ab' AS STRING)
SELECT * FROM (SELECT id, c FROM s.p) PIVOT (max(string(id)) FOR c IN ('ab' AS ab)) | RPAD(
SELECT c FROM s.p INTERSECT SELECT d FROM s.l | CONCAT(d)
""".strip("\n").splitlines()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition(" |")[0])
def test_comparisons(case: str) -> None:
    query, _, expected = case.partition(" | ")
    said = explain(normalize(pad_texts(from_sql(query, TABLES), TABLES)))
    assert expected in said


def test_plans_without_such_columns_stay_the_very_same() -> None:
    tables = {"s.p": TableSchema("s.p", (("id", "int"), ("v", "varchar(5)")))}
    plan = from_sql("SELECT v = 'ab' AS x FROM s.p WHERE id > 1", tables)
    assert pad_texts(plan, tables) is plan
