"""Keys narrowed to those that a filtered table has leave every row of the view as it would be without."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from random import Random

import duckdb
import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import compile_view
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.plan.schema import TableSchema
from tests.job.duckdb_jobs import AFTER, BEFORE, Row, bag, connect, fill, run, stored, visible

COLUMNS = {
    "s.line": (("l_s", "bigint"), ("l_o", "bigint"), ("price", "decimal(10,2)")),
    "s.supplier": (("s", "bigint"), ("n", "bigint")),
    "s.pair": (("p_s", "bigint"), ("p_o", "bigint"), ("qty", "bigint")),
}
TABLES = {name: TableSchema(name, columns, ()) for name, columns in COLUMNS.items()}
# The rows do not keep the keys, which lead the plan and must not lead it astray.
FACTS = {
    "s.line": TableFacts(LARGE * 64),
    "s.supplier": TableFacts(LARGE, ("s",)),
    "s.pair": TableFacts(LARGE, ("p_s", "p_o")),
}
STATE = "the_state"

QUERIES = {
    "scalar": "SELECT s.s, l.price FROM s.line l JOIN s.supplier s ON l.l_s = s.s "
    "WHERE s.n = 1 AND l.price < (SELECT avg(m.price) FROM s.line m WHERE m.l_s = s.s)",
    "of an aggregate": "SELECT sum(l.price) AS total FROM s.line l JOIN s.supplier s ON l.l_s = s.s "
    "WHERE s.n = 1 AND l.price < (SELECT avg(m.price) FROM s.line m WHERE m.l_s = s.s)",
    "one of two keys": "SELECT s.n, g.l_o, g.total FROM (SELECT l_s, l_o, sum(price) AS total FROM s.line GROUP BY l_s, l_o) g "
    "JOIN s.supplier s ON g.l_s = s.s WHERE s.n > 1",
    "two keys": "SELECT p.p_s, p.qty FROM s.pair p WHERE p.qty > 1 AND p.qty > "
    "(SELECT 0.5 * sum(l.price) FROM s.line l WHERE l.l_s = p.p_s AND l.l_o = p.p_o)",
    "semi-joined": "SELECT p.p_s, p.qty FROM s.pair p WHERE p.p_s IN (SELECT s FROM s.supplier WHERE n = 1) AND p.qty > "
    "(SELECT 0.5 * sum(l.price) FROM s.line l WHERE l.l_s = p.p_s AND l.l_o = p.p_o)",
    "window": "SELECT s.s, w.price FROM (SELECT l_s, price, row_number() OVER (PARTITION BY l_s ORDER BY price, l_o) AS r FROM s.line) w "
    "JOIN s.supplier s ON s.s = w.l_s WHERE s.n = 1 AND w.r = 1",
    "null-safe": "SELECT s.n, g.most FROM (SELECT l_s, max(price) AS most FROM s.line GROUP BY l_s) g "
    "JOIN s.supplier s ON s.s <=> g.l_s WHERE s.n = 1",
    "two groupings, one matched": "SELECT s.s, a.most, b.l_s FROM (SELECT l_s, max(price) AS most FROM s.line GROUP BY l_s) a "
    "JOIN (SELECT l_s, min(price) AS least FROM s.line GROUP BY l_s) b ON a.most = b.least "
    "JOIN s.supplier s ON s.s = a.l_s WHERE s.n = 1",
    "distinct": "SELECT s.n, d.l_o FROM (SELECT DISTINCT l_s, l_o FROM s.line) d JOIN s.supplier s ON s.s = d.l_s WHERE s.n = 2",
}  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(COLUMNS) as opened:
        yield opened


def some_rows(random: Random, table: str) -> list[Row]:
    values = (None, 1, 2, 3)
    return [tuple(random.choice(values) for _ in COLUMNS[table]) for _ in range(random.randrange(10))]


@pytest.mark.parametrize("name", QUERIES)
def test_the_view_is_its_query(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    view = compile_view("s.v", parse_one(QUERIES[name], read="spark"), TABLES)
    patterns = chain.from_iterable(combinations(view.tables, n) for n in range(1, len(view.tables) + 1))
    narrowed = 0
    for changed in map(frozenset, patterns):
        job = batch_job(view, changed, Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
        narrowed += sum("leave out keys" in step.comment for step in job.steps)
        for seed in range(20):
            random = Random(seed)
            for table in view.tables:
                rows = some_rows(random, table)
                fill(connection, stored(table, AFTER), rows)
                fill(connection, stored(table, BEFORE), rows)
            run(connection, full_job(view, Reason.REQUESTED), STATE)
            for table in sorted(changed):
                fill(connection, stored(table, AFTER), some_rows(random, table))
            run(connection, job, STATE)
            followed = bag(visible(connection, view, STATE))
            run(connection, full_job(view, Reason.REQUESTED), STATE)
            assert followed == bag(visible(connection, view, STATE)), (changed, seed)
    assert narrowed


def test_other_keys_are_not_narrowed() -> None:
    """Of two groupings by the changed keys, the one that does not meet the supplier is computed for all of them."""
    view = compile_view("s.v", parse_one(QUERIES["two groupings, one matched"], read="spark"), TABLES)
    job = batch_job(view, frozenset({"s.line"}), Strategy.INCREMENTAL, Reason.LINEAR, FACTS)
    narrow = {step.name for step in job.steps if "leave out keys" in step.comment}
    assert any(bound.step in narrow for item in job.inputs for bound in item.bounds)
    assert any(bound.step not in narrow for item in job.inputs if item.table == "s.line" for bound in item.bounds)
