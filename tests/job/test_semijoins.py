"""Semijoins of a refresh reach the groups beside them."""

from __future__ import annotations

import pytest
import sqlglot

from ivm_core.cost.model import Reason
from ivm_core.job.build import full_job
from ivm_core.job.compile import compile_view
from ivm_core.plan.schema import TableSchema

TABLES = {
    "s.part": TableSchema("s.part", (("p", "bigint"), ("name", "string"))),
    "s.stock": TableSchema("s.stock", (("p", "bigint"), ("s", "bigint"), ("n", "int"), ("name", "string"))),
    "s.line": TableSchema("s.line", (("p", "bigint"), ("s", "bigint"), ("price", "decimal(15,2)"))),
    "s.word": TableSchema("s.word", (("w", "string"), ("p", "bigint"))),
}
QUERY = (
    "SELECT k.s FROM s.stock k WHERE k.{column} IN (SELECT p FROM s.part {where}) "
    "AND k.n > (SELECT sum(price) FROM s.line l WHERE l.p = k.p AND l.s = k.s)"
)
OF_WORDS = (
    "SELECT w.n, k.s FROM (SELECT w, count(*) AS n FROM s.word GROUP BY w) w "
    "JOIN (SELECT * FROM s.stock WHERE {column} IN (SELECT {key} FROM s.part WHERE p > 1)) k ON w.w = k.{column}"
)


@pytest.mark.parametrize(
    ("sql", "passed"),
    [
        (QUERY.format(column="p", where="WHERE name = 'x'"), True),
        (QUERY.format(column="p", where=""), False),  # no fewer lines, and all parts read twice
        (QUERY.format(column="n", where="WHERE name = 'x'"), False),  # no column of the groups
        (OF_WORDS.format(column="name", key="name"), True),
        (OF_WORDS.format(column="p", key="name"), False),  # '01' = 1 and 1 = '1', but '01' <> '1'
    ],
)
def test_groups_are_computed_for_what_a_semijoin_leaves(sql: str, passed: bool) -> None:
    query = sqlglot.parse_one(sql, read="spark")
    [step] = full_job(compile_view("v", query, TABLES), Reason.REQUESTED).steps
    groups = next(
        select
        for select in sqlglot.parse_one(step.sql, read="spark").find_all(sqlglot.exp.Select)
        if select.args.get("group")
    )
    assert ("s_part_after" in {table.name for table in groups.find_all(sqlglot.exp.Table)}) is passed
