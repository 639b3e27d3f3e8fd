"""Which rows an input may leave out: bounds reach a table only through what keeps its rows apart by that column."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job
from ivm_core.job.compile import compile_view
from ivm_core.plan.dialect import SparkAsWritten
from tests.plan.queries import TABLES

# Of a batch that changes shop.u alone: the columns of shop.t that are bound.
BOUNDS = {
    "select t.b, u.k from t join u on t.a = u.a": {"t_a"},
    "select t.b, u.k from t join u on t.a + 1 = u.a": set(),
    "select q.n, u.k from (select a, count(*) as n from t group by a) q join u on q.a = u.a": {"t_a"},
    "select q.n, u.k from (select a, count(*) over (partition by a) as n from t) q join u on q.a = u.a": {"t_a"},
    "select q.n, u.k from (select a, count(*) over (partition by b, a) as n, sum(b) over (partition by a) as m from t) q "
    "join u on q.a = u.a": {"t_a"},
    "select q.n, u.k from (select a, count(*) over (partition by cast(a as boolean)) as n from t) q join u on q.a = u.a": set(),
    "select q.n, u.k from (select a, count(*) over (partition by a % 2) as n from t) q join u on q.a = u.a": set(),
    "select q.n, u.k from (select a, count(*) over () as n from t) q join u on q.a = u.a": set(),
    # Two texts may be one number, and two integers one DOUBLE.
    "select t.b from u join w on u.a = w.z join t on t.b = w.z": set(),
    "select t.b from u join w on u.a = w.k join t on t.n = w.k": {"n"},
    "select t.b from u join (select k, cast(y as double) as v from w) q on u.a = q.v join t on t.n = q.v": set(),
    "select t.b from u left join w on u.k = w.z left join t on t.b = w.z": set(),
}  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), BOUNDS.items())
def test_bounds_of_a_table_that_did_not_change(sql: str, expected: set[str]) -> None:
    view = compile_view("shop.v", parse_one(sql, read=SparkAsWritten), TABLES, "shop")
    job = batch_job(view, frozenset(("shop.u",)), Strategy.INCREMENTAL, Reason.LINEAR)
    assert {bound.column for item in job.inputs if item.table == "shop.t" for bound in item.bounds} == expected
