"""Jobs of large queries stay small: what a compiler must visit, name and write does not multiply with the joins."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.simplify import RULES
from ivm_core.job.build import batch_job
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.fixpoint import fixpoint
from ivm_core.plan.nodes import Plan, operators
from ivm_core.plan.schema import TableSchema
from tests.sampling import one_in

JOINS = 30
NUMBERS = range(1, JOINS + 1)
TABLES = {
    f"default.t{n}": TableSchema(f"default.t{n}", (("k", "int"), ("f", "int"), ("v", "decimal(10,2)")))
    for n in range(JOINS + 1)
} | {"default.s": TableSchema("default.s", (*((f"f{n}", "int") for n in NUMBERS), ("v", "decimal(10,2)")))}

KINDS = {
    "inner": ["inner"] * JOINS,
    "left": ["left"] * JOINS,
    "in turns": ["inner", "left"] * (JOINS // 2),
    "full": ["full"] * JOINS,
    "inner, then left": ["inner"] * (JOINS // 2) + ["left"] * (JOINS // 2),
}
CHAIN = "from t0 " + " ".join(f"{{}} join t{n} on t{n}.k = t{n - 1}.f" for n in NUMBERS)
STAR = "from s " + " ".join(f"{{}} join t{n} on t{n}.k = s.f{n}" for n in NUMBERS)
SHAPES = {
    f"{shape}, {name}": (first, joined.format(*kinds))
    for shape, first, joined in (("chain", "t0.k", CHAIN), ("star", "s.f1", STAR))
    for name, kinds in KINDS.items()
}

# Inputs for each table, steps, and characters for each pair of tables: one term for each table, each with all the others, names
# n² tables. A left join has another term, before the batch; a full join those of a left join and of an anti join.
MOST = {"full": (11, 4 * JOINS, 2_000), "left": (6, 2 * JOINS + 1, 600), "inner": (5, 1, 100)}
# Grouped by its left side, a left join is a union, both of whose halves name that side's changes: here 29 inner joins, twice.
TWICE = SHAPES["chain, in turns"]


def _compiled(sql: str) -> CompiledView:
    return compile_view("default.v", parse_one(sql, read=SparkAsWritten), TABLES)


@pytest.mark.parametrize(("first", "joined"), SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("grouped", one_in(2, [False, True]))
def test_a_job_over_thirty_joins_is_a_few_tables_in_each_term(first: str, joined: str, grouped: bool) -> None:
    last = f"t{JOINS}.v"
    total = f"sum({last}) as total {joined} group by {first}"
    view = _compiled(f"select {first}, {total if grouped else f'{last} {joined}'}")
    job = batch_job(view, frozenset(view.tables), Strategy.INCREMENTAL, Reason.LINEAR)
    inputs, steps, characters = next(most for kind, most in MOST.items() if kind in joined)
    assert len(job.inputs) <= (inputs + (grouped and (first, joined) == TWICE)) * len(TABLES)
    assert len(job.steps) <= steps
    assert sum(len(step.sql) for step in job.steps) <= characters * JOINS**2


@pytest.mark.parametrize(("first", "joined"), SHAPES.values(), ids=list(SHAPES))
def test_rules_look_at_each_operator_of_thirty_joins_about_once(first: str, joined: str) -> None:
    view = _compiled(f"select {first}, t{JOINS}.v {joined}")
    looked_at = 0

    def look(plan: Plan) -> Plan:
        nonlocal looked_at
        looked_at += 1
        return plan

    delta = differentiate(view.layout.stored, frozenset(view.tables))
    fixpoint(delta, (*RULES, look))
    assert looked_at <= len(list(operators(delta)))


def test_groupings_within_one_another_are_not_written_out_again_and_again() -> None:
    """Spark plans what WITH names wherever it stands: 19,000 tables for TPC-DS Q75, once."""
    query = "select k, f from t1"
    for number in range(2, 8):
        query = f"select distinct k, f from ({query}) q{number} union select k, count(*) as f from t{number} group by k"
    view = _compiled(f"select k, sum(f) as total from ({query}) q group by k")
    job = batch_job(view, frozenset(view.tables), Strategy.AFFECTED, Reason.AFFECTED_KEYS)
    assert max(_tables_written_out(step.sql) for step in job.steps) <= 200


def _tables_written_out(sql: str) -> int:
    tree = parse_one(sql, read="spark")
    counts: dict[str, int] = {}
    if (named := tree.args.get("with_")) is not None:
        for item in named.pop().expressions:
            counts[item.alias] = sum(counts.get(table.name, 1) for table in item.this.find_all(exp.Table))
    return sum(counts.get(table.name, 1) for table in tree.find_all(exp.Table))
