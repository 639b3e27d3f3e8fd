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
    "s.stock": TableSchema("s.stock", (("p", "bigint"), ("s", "bigint"), ("n", "int"))),
    "s.line": TableSchema("s.line", (("p", "bigint"), ("s", "bigint"), ("price", "decimal(15,2)"))),
}
QUERY = (
    "SELECT k.s FROM s.stock k WHERE k.{column} IN (SELECT p FROM s.part {where}) "
    "AND k.n > (SELECT sum(price) FROM s.line l WHERE l.p = k.p AND l.s = k.s)"
)


@pytest.mark.parametrize(
    ("column", "where", "passed"),
    [
        ("p", "WHERE name = 'x'", True),
        ("p", "", False),  # no fewer lines, and all parts read twice
        ("n", "WHERE name = 'x'", False),  # no column of the groups
    ],
)
def test_groups_are_computed_for_what_a_semijoin_leaves(column: str, where: str, passed: bool) -> None:
    query = sqlglot.parse_one(QUERY.format(column=column, where=where), read="spark")
    [step] = full_job(compile_view("v", query, TABLES), Reason.REQUESTED).steps
    groups = next(
        select
        for select in sqlglot.parse_one(step.sql, read="spark").find_all(sqlglot.exp.Select)
        if select.args.get("group")
    )
    assert ("s_part_after" in {table.name for table in groups.find_all(sqlglot.exp.Table)}) is passed
