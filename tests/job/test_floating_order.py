"""Views over sums of DOUBLE whose base tables show their rows in another order each time: last digits differ, no row is wrong."""

from __future__ import annotations

from random import Random

import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.state import StateKind
from ivm_core.errors import NoRule
from ivm_core.job.build import batch_job
from ivm_core.job.compile import compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema
from tests.job.duckdb_jobs import Row
from tests.job.shuffled import follow_shuffled
from tests.sampling import one_in

TABLES = {
    "s.t": TableSchema("s.t", (("k", "int"), ("m", "int"), ("f", "double"))),
    "s.u": TableSchema("s.u", (("k", "int"), ("n", "string"))),
}
SUMS = "(select k, sum(f) as s from s.t group by k)"
SINES = "(select k, sum(sin(f)) as s from s.t group by k)"
FINER = "(select k, m, sum(f) as s from s.t group by k, m)"
GROUPED, MERGED, BAG = StateKind.RECOMPUTED_GROUPS, StateKind.MERGED_GROUPS, StateKind.BAG
VIEWS = {
    f"select u.n, g.s from s.u join {SUMS} g on u.k = g.k": BAG,
    f"select k, s, rank() over (order by s) as r from {SUMS}": GROUPED,
    f"select distinct k, s from {SUMS}": GROUPED,
    f"select k, s from {SUMS} order by s desc, k limit 2": GROUPED,
    f"select m, max(s) as x, min(s) as y from {FINER} group by m": GROUPED,
    f"select max(s) as x, min(s) as y from {FINER}": GROUPED,
    f"select m, max_by(k, s) as x from {FINER} group by m": GROUPED,
    f"select m, avg(s) as x from {FINER} group by m": GROUPED,
    f"select m, count(*) as n from {FINER} where s > 0.65 group by m": GROUPED,
    f"select m, sum(cast(round(s, 2) as decimal(20, 2))) as x from {FINER} group by m": GROUPED,
    f"select u.n, max(g.s) as x from s.u join {SUMS} g on u.k = g.k group by u.n": GROUPED,
    f"select u.n, cast(g.s as string) as x from s.u join {SUMS} g on u.k = g.k": BAG,
    f"select u.n, cast(g.s * 1000000 as decimal(30, 12)) as x, g.s > 1 as y from s.u join {SUMS} g on u.k = g.k": BAG,
    f"select distinct m from {FINER} where s > 0.65": GROUPED,
    f"select m from {FINER} where s > 0.65 group by m": GROUPED,
    "select m, max(a) as x from (select k, m, avg(k) as a from s.t group by k, m) group by m": MERGED,
}


@pytest.mark.parametrize("seed", one_in(3, range(3)))
@pytest.mark.parametrize("query", VIEWS)
def test_no_row_is_wrong(query: str, seed: int) -> None:
    random = Random(seed)
    view = compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES)
    assert view.layout.kind is VIEWS[query]
    facts: list[Row] = [_fact(random, (0.1, 0.2, 0.3, 0.7, 1e9, -1e9, 1 / 3)) for _ in range(24)]

    def more() -> list[Row]:
        return [_fact(random, (0.1, 0.7)), _fact(random, (0.3,))]

    follow_shuffled(view, TABLES, random, facts, more, kept=0.85)


POSITIVE = "(select k from s.t group by k having sum(f) > 0.6D)"
# Rows come and go by the last digits of a sum: 0.1 + 0.2 + 0.3 is 0.6 or more.
DECIDED = (
    f"select u.n from s.u join {POSITIVE} g on u.k = g.k",
    f"select n from s.u where exists (select 1 from {POSITIVE} g where g.k = u.k)",
    f"select k, n from s.u where k in {POSITIVE} order by n, k limit 3",
    f"select k from s.u except select k from {POSITIVE}",
    f"select u.n from s.u left join {POSITIVE} g on u.k = g.k where g.k is null",
    "select u.n from s.u join (select k, stddev(f) as x from s.t group by k) g on u.k = g.k where g.x > 0",
    "select t.k, t.m from s.t where f >= (select avg(f) from s.t where m = 0)",
    f"select s, count(*) as n from {SUMS} group by s",
    f"select distinct s from {SUMS}",
    f"select s, collect_set(k) as ks from {SINES} group by s",
    f"select distinct s from {SINES}",
    f"select k, s from {SUMS} union select k, 0.0D as s from s.u",
    f"select k, s from {SUMS} except select k, 0.0D as s from s.u",
    f"select a.m, b.m as o from {FINER} a join {FINER} b on a.s = b.s and a.m < b.m",
    "select s, count(*) as n from (select k, kurtosis(f) as s from s.t group by k) group by s",
    "select s, count(*) as n from (select k, regr_slope(f, m) as s from s.t group by k) group by s",
    "select u.n from s.u join (select k, sum(f) over (partition by k) as x from s.t) g on u.k = g.k where g.x > 1",
)


def check_has_no_batches(query: str, why: str) -> None:
    view = compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES)
    with pytest.raises(NoRule, match=why):
        strategy_of(view)
    with pytest.raises(NoRule):
        batch_job(view, frozenset(view.tables), Strategy.AFFECTED, Reason.AFFECTED_KEYS)


@pytest.mark.parametrize("query", DECIDED)
def test_rows_that_last_digits_decide_about_are_computed_anew(query: str) -> None:
    """A batch evaluates the query before the change again: it would take away a row that is not stored, or leave one."""
    check_has_no_batches(query, "a floating-point sum decides which rows there are")


def test_sums_that_are_kept_as_a_view_are_the_same_each_time() -> None:
    tables = {**TABLES, "s.sums": TableSchema("s.sums", (("k", "int"), ("s", "double")))}
    query = "select u.n from s.u join s.sums g on u.k = g.k where g.s > 0.6D"
    strategy, _, _ = strategy_of(compile_view("s.v", parse_one(query, read=SparkAsWritten), tables))
    assert strategy is Strategy.INCREMENTAL


@pytest.mark.parametrize(
    "query",
    [
        f"select u.n, g.x from s.u join (select k, cast(s as string) as x from {SUMS}) g on u.k = g.k union all select n, n from s.u",
        "select u.n, g.x from s.u join (select k, approx_percentile(m, 0.5) as x from s.t group by k) g on u.k = g.k",
        "select u.n, g.x from s.u join (select k, try_sum(f) as x from s.t group by k) g on u.k = g.k",
        "select u.n, g.x from s.u join (select k, sum(some_function(f)) as x from s.t group by k) g on u.k = g.k",
    ],
)
def test_rows_that_cannot_be_found_again_are_computed_anew(query: str) -> None:
    check_has_no_batches(query, "made of floating-point sums")


def test_what_follows_a_share_of_a_ranking_is_found_again() -> None:
    query = (
        "select k, percent_rank() over (partition by m order by k) as p, ntile(2) over (order by k, f) as n from s.t"
    )
    strategy, _, _ = strategy_of(compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES))
    assert strategy is Strategy.AFFECTED


@pytest.mark.parametrize("call", ["try_sum(m)", "try_avg(m)", "try_sum(cast(m as decimal(10, 2)))"])
def test_sums_that_have_room_are_found_again(call: str) -> None:
    query = f"select u.n, g.x from s.u join (select k, {call} as x from s.t group by k) g on u.k = g.k"
    strategy, _, _ = strategy_of(compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES))
    assert strategy is Strategy.AFFECTED


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("select f, sum(f) as s from s.t group by f", {"s"}),
        ("select k, max(f) as x, avg(f) * 2 as y, avg(k) as z from s.t group by k", {"y"}),
        (f"select t.f, t.f + g.s as x from s.t join {SUMS} g on t.k = g.k", {"x"}),
        (f"select k, s from {SUMS} union all select k, f from s.t", {"s"}),
        ("select f, sum(f) over (partition by k) as s from s.t", {"s"}),
        ("select f, sum(k) as s from s.t group by f", set()),
        ("select f, percent_rank() over (order by f) as p, cume_dist() over (order by f) as c from s.t", set()),
    ],
)
def test_only_what_is_made_of_sums_is_compared_with_a_tolerance(query: str, columns: set[str]) -> None:
    assert compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES).approximate == columns


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("select k, f, lag(f) over (partition by k order by f) as p from s.t", ()),
        (f"select t.f, g.s from s.t join {SUMS} g on t.k = g.k", ("s",)),
    ],
)
def test_only_what_is_made_of_sums_is_looked_for_nearby(query: str, columns: tuple[str, ...]) -> None:
    view = compile_view("s.v", parse_one(query, read=SparkAsWritten), TABLES)
    job = batch_job(view, frozenset(view.tables), Strategy.AFFECTED, Reason.AFFECTED_KEYS)
    assert job.write.approximate == columns


def _fact(random: Random, values: tuple[float, ...]) -> Row:
    return random.randrange(3), random.randrange(2), random.choice(values)
