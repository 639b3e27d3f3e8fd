"""Jobs of large queries stay small: what a compiler must visit, name and write does not multiply with the joins."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job
from ivm_core.job.compile import compile_view
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema

JOINS = 30
TABLES = {
    f"default.t{n}": TableSchema(f"default.t{n}", (("k", "int"), ("f", "int"), ("v", "decimal(10,2)")))
    for n in range(JOINS + 1)
}


def _joined(kind: str) -> str:
    joins = " ".join(f"{kind} join t{n} on t{n}.k = t{n - 1}.f" for n in range(1, JOINS + 1))
    return f"from t0 {joins}"


@pytest.mark.parametrize(
    ("sql", "most_characters"),
    [
        # One term for each table, each with all the others: n² tables are named.
        (f"select t0.k, t{JOINS}.v {_joined('inner')}", 200 * JOINS**2),
        (f"select t0.k, sum(t{JOINS}.v) as total {_joined('inner')} group by t0.k", 200 * JOINS**2),
    ],
)
def test_a_job_over_thirty_joins_names_each_table_once_for_each_term(sql: str, most_characters: int) -> None:
    view = compile_view("default.v", parse_one(sql, read=SparkAsWritten), TABLES)
    job = batch_job(view, frozenset(view.tables), Strategy.INCREMENTAL, Reason.LINEAR)
    assert len(job.inputs) <= 5 * len(TABLES)
    assert sum(len(step.sql) for step in job.steps) <= most_characters
