"""Views that choose among equal rows, over tables whose rows come in another order each time: batches and a new build agree."""

from __future__ import annotations

from random import Random

import pytest
from sqlglot import parse_one

from ivm_core.job.compile import compile_view
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema
from tests.job.duckdb_jobs import Row
from tests.job.shuffled import follow_shuffled
from tests.sampling import one_in

TABLES = {
    "s.t": TableSchema("s.t", (("k", "int"), ("m", "int"), ("c", "string"), ("f", "double"))),
    "s.u": TableSchema("s.u", (("k", "int"), ("n", "string"))),
}
SEEDS = one_in(3, range(3))
OVER = "over (partition by k order by m)"
RANGE = "over (partition by k order by m range between"
WINDOWS = (
    f"last_value(c) {OVER}",
    f"last_value(c) ignore nulls {OVER}",
    f"first_value(c) {OVER}",
    f"first_value(c) ignore nulls {OVER}",
    f"nth_value(c, 2) {OVER}",
    f"any_value(c) {OVER}",
    f"max_by(c, f) {OVER}",
    f"collect_list(c) {OVER}",
    f"lag(c) {OVER}",
    f"first_value(c) {RANGE} 1 preceding and 1 following)",
    f"last_value(c) ignore nulls {RANGE} 1 preceding and current row)",
    f"last_value(c) {RANGE} unbounded preceding and unbounded following)",
    f"first_value(c) {RANGE} current row and unbounded following)",
    f"nth_value(c, 2) {RANGE} current row and current row)",
    f"sum(m) {OVER[:-1]} rows 1 preceding)",
    "any_value(c) over (partition by k)",
    "last_value(c) over (partition by k)",
    "collect_list(c) over (partition by k)",
    "mode(c) over (partition by k)",
    "min_by(c, m) over (partition by k)",
    "sum(m) over (partition by k rows 1 preceding)",
)

AGGREGATES = (
    "first(c)",
    "concat(coalesce(first(c), '?'), coalesce(cast(first(m) as string), '?'))",
    "last(c, true)",
    "first_value(c)",
    "any_value(c)",
    "any_value(c) ignore nulls",
    "max_by(c, m)",
    "min_by(c, f)",
    "mode(c)",
    "collect_list(c)",
    "collect_list(distinct c)",
    "concat(collect_list(c), collect_list(cast(m as string)))",
    "collect_set(c)",
    "array_agg(named_struct('c', c, 'm', m))",
    "listagg(c, ',')",
    "listagg(distinct c)",
    "listagg(c, '-') within group (order by m)",
    "max_by(c, m) filter (where f > 0.5)",
)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("call", AGGREGATES)
def test_aggregates(call: str, seed: int) -> None:
    groups = f"(select k, {call} as x from s.t group by k)"
    _check(f"select k, {call} as x from s.t group by k", seed)
    _check(f"select {call} as x from s.t", seed)
    _check(f"select u.n, q.x from s.u join {groups} q on u.k = q.k", seed)
    _check(f"select x, count(*) as n from {groups} group by x", seed)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("window", WINDOWS)
def test_windows(window: str, seed: int) -> None:
    _check(f"select u.n, q.m, q.x from s.u join (select k, m, {window} as x from s.t) q on u.k = q.k", seed)


def _check(query: str, seed: int) -> None:
    """Batches of one view, after each of which it is compared with one built anew from rows in another order."""
    random = Random(seed)
    view = compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES)
    facts: list[Row] = [_fact(random) for _ in range(16)]
    follow_shuffled(view, TABLES, random, facts, lambda: [_fact(random) for _ in range(3)], kept=0.8)


def _fact(random: Random) -> Row:
    return (
        random.randrange(3),
        random.randrange(3),
        random.choice(("p", "q", "r", None)),
        random.choice((0.5, 1.0, None)),
    )
