"""Views of the first rows of an order, with so few rows to spare that some batches have to look at all rows again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import duckdb
import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta import first_rows
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.model import Slice
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema
from tests.job.duckdb_jobs import AFTER, BEFORE, Row, bag, connect, fill, run, stored, visible

TABLES = {
    schema.name: schema
    for schema in (
        TableSchema("s.t", (("a", "int"), ("b", "int"), ("s", "string"))),
        TableSchema("s.u", (("k", "int"), ("z", "string"))),
        TableSchema("s.f", (("k", "int"), ("x", "double"))),
    )
}
STATE = "the_state"
BATCHES = 40

QUERIES = """
select a, b, s from t order by a desc, b limit 4
select s from t order by a, b desc nulls last limit 3 offset 2
select a from t order by a limit 1
select a + b as p, s from t where b > 0 order by coalesce(a, 9) * b desc limit 3
select s as `order`, a as `Größe` from t order by a, s limit 3
select * from (select a, s from t order by b, a limit 6) where s = 'x'
select a, b from t union all select * from values (1, 2), (3, 4) as v(a, b) order by a desc limit 4
select t.a, u.z from t join u on t.a = u.k order by u.z, t.b limit 5
select t.a, u.z from t left join u on t.a = u.k order by t.b, u.z desc limit 5
select a from t where a not in (select k from u) order by a limit 2
select a, row_number() over (partition by s order by b) as r from t order by r desc limit 3
select a, case b when 1 then -0.0d when 2 then 0.0d else b / 2 end as x from t order by x, a limit 4
""".strip().splitlines()

WITHOUT = {
    "groups, of which all are kept": "select a, count(*) as n from t group by a order by n desc, a limit 2",
    "an order of sums that another evaluation may change": "select k, sum(x) over (partition by k) as y from f order by y limit 3",
    "no types that are told apart": "select k, array(x) as l from f order by l limit 3",
    "too many": "select a from t order by a limit 10001",
    "below other operators": "select count(*) as n from (select a from t order by a limit 5)",
    "a clock": "select a, current_date() as today from t order by a limit 3",
}


def compiled(sql: str) -> CompiledView:
    return compile_view("s.v", parse_one(sql, read=SparkAsWritten), TABLES, "s")


@pytest.fixture(autouse=True)
def few_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_rows, "LEAST_SPARE", 0)


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect({name: table.columns for name, table in TABLES.items()}) as opened:
        yield opened


def row(random: Random) -> Row:
    return random.choice([None, *range(6)]), random.choice([None, *range(4)]), random.choice([None, "x", "y"])


@pytest.mark.parametrize("sql", QUERIES)
def test_the_first_rows_are_followed_with_and_without_a_refill(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    view, random = compiled(sql), Random(sql)
    assert view.layout.first is not None
    rows: dict[str, list[Row]] = {"s.t": [row(random) for _ in range(30)], "s.u": [(n, "ab"[n % 2]) for n in range(5)]}

    def show(state: str) -> None:
        for table, own in rows.items():
            fill(connection, stored(table, state), own)

    show(AFTER)
    run(connection, full_job(view, Reason.FIRST_BUILD), STATE)
    refills: Counter[bool] = Counter()
    for batch in range(BATCHES):
        show(BEFORE)
        kept = random.choice([0.0, 0.5, 0.9, 1.0])
        more = [row(random) for _ in range(random.choice([0, 1, 5, 40]))]
        rows["s.t"] = [each for each in rows["s.t"] if random.random() < kept] + more
        if batch % 3 == 0:
            rows["s.u"] = [*rows["s.u"][1:], (random.choice([None, *range(6)]), random.choice("ab"))]
        show(AFTER)
        run(connection, batch_job(view, frozenset(view.tables), Strategy.INCREMENTAL, Reason.LINEAR), STATE)
        refills[bool(connection.execute("FROM too_few").fetchall())] += 1
        assert len(connection.execute(f"FROM {STATE}").fetchall()) <= view.layout.first.most
        followed = bag(visible(connection, view, STATE))
        run(connection, full_job(view, Reason.FIRST_BUILD), "anew")
        assert followed == bag(visible(connection, view, "anew"))
    assert min(refills[True], refills[False]) > 0


def test_a_row_that_the_state_should_have_had_is_not_passed_over(connection: duckdb.DuckDBPyConnection) -> None:
    view = compiled("select a, b, s from t order by a limit 2")
    fill(connection, stored("s.t", AFTER), [(n, 0, "x") for n in range(9)])
    run(connection, full_job(view, Reason.FIRST_BUILD), STATE)
    connection.execute(f"DELETE FROM {STATE} WHERE a = 1")
    fill(connection, stored("s.t", BEFORE), [(n, 0, "x") for n in range(9)])
    fill(connection, stored("s.t", AFTER), [(n, 0, "x") for n in range(9) if n != 1])
    with pytest.raises(duckdb.Error, match="more copies removed than stored"):
        run(connection, batch_job(view, frozenset({"s.t"}), Strategy.INCREMENTAL, Reason.LINEAR), STATE)


def test_all_rows_are_read_by_the_refill_only() -> None:
    view = compiled("select t.a, u.z from t join u on t.a = u.k order by u.z, t.b limit 5")
    job = batch_job(view, frozenset({"s.t"}), Strategy.INCREMENTAL, Reason.LINEAR)
    whole = {item.name for item in job.inputs if item.table == "s.t" and item.slice is not Slice.CHANGES}
    readers = {step.name for step in job.steps if any(name in step.sql.split() for name in whole)}
    assert whole and readers == {"refill"}
    assert {step.name: step.when for step in job.steps if step.when} == {"refill": "too_few"}


def test_a_view_of_first_rows_is_incremental_where_its_rows_are() -> None:
    assert strategy_of(compiled("select a, b from t order by b limit 3"))[0] is Strategy.INCREMENTAL
    assert (
        strategy_of(compiled("select t.a from t left join u on t.a = u.k order by u.z limit 3"))[0] is Strategy.AFFECTED
    )


@pytest.mark.parametrize("sql", WITHOUT.values(), ids=list(WITHOUT))
def test_other_limits_have_none_to_spare(sql: str) -> None:
    assert compiled(sql).layout.first is None
