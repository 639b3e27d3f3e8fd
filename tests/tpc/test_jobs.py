"""Every query of TPC-H and TPC-DS as a view: after each batch the view shows what the query gives.

The ordinary run takes all of TPC-H and every fifth query of TPC-DS through two batches; the slow one all queries through
all batches, which ``python -m tests.tpc.record`` does too, and keeps what it found.
"""

from __future__ import annotations

from decimal import Decimal

import duckdb
import pytest

from ivm_core.cost.model import Strategy
from ivm_core.errors import NoRule
from ivm_core.job.compile import compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.schema import TableSchema, types_of
from tests.tpc.asked_values import asked_values
from tests.tpc.benchmark import KINDS, is_installed, load, numbers, spark_text
from tests.tpc.jobs import check_query, check_same, compiled

REFRESHED = ("tpcds", 39)  # a quotient of a deviation decides about its rows
EVERY = [(kind, number) for kind in KINDS for number in numbers(kind) if (kind, number) != REFRESHED]
SAMPLE = [(kind, number) for kind, number in EVERY if kind == "tpch" or number % 5 == 0]


@pytest.fixture(autouse=True)
def _installed(request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["kind"] if hasattr(request.node, "callspec") else ""
    if kind and not is_installed(kind):
        pytest.skip(f"no package duckdb-extension-{kind}")


@pytest.mark.parametrize(("kind", "number"), SAMPLE)
def test_a_view_follows_changes_in_all_its_tables(kind: str, number: int) -> None:
    _check(*check_query(load(kind), number, most_batches=2))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "number"), EVERY)
def test_a_view_follows_changes_in_all_and_in_each_of_its_tables(kind: str, number: int) -> None:
    _check(*check_query(load(kind), number))


def test_a_query_with_rows_by_last_digits_is_kept_where_its_part_is() -> None:
    benchmark = load("tpcds")
    text = spark_text(benchmark.queries[39])
    with pytest.raises(NoRule, match="a floating-point sum decides"):
        strategy_of(compiled(benchmark, benchmark.queries[39]))
    kept = text.replace("inv AS (", "inv AS MATERIALIZED (", 1)
    definition = parse_definition(f"CREATE INCREMENTAL MATERIALIZED VIEW default.v AS {kept}")
    schemas = dict(benchmark.schemas)
    for view in (*definition.auxiliaries, definition):
        found = compile_view(view.name, view.query, schemas)
        assert strategy_of(found)[0] is not Strategy.FULL
        schemas[view.name] = TableSchema(view.name, tuple((n, t or "string") for n, t in types_of(found.plan).items()))
    assert len(definition.auxiliaries) == 1


def _check(states: int, with_rows: int) -> None:
    assert with_rows * 2 > states, f"only {with_rows} of {states} states have rows: see tests/tpc/hints.py"


@pytest.mark.parametrize("kind", KINDS)
def test_all_queries_are_there(kind: str) -> None:
    assert sorted(load(kind).queries) == list(numbers(kind))


@pytest.mark.parametrize(
    ("kind", "number", "column", "value"), [("tpch", 12, "l_shipmode", "MAIL"), ("tpcds", 3, "i_manufact_id", 128)]
)
def test_rows_hold_what_a_query_asks_for(kind: str, number: int, column: str, value: object) -> None:
    benchmark = load(kind)
    types = {name: type_ for columns in benchmark.types.values() for name, type_ in columns.items()}
    with duckdb.connect() as connection:
        assert value in asked_values(connection, benchmark.queries[number], types)[column]


def test_a_difference_is_seen() -> None:
    one, other, none = ("a", Decimal("1.5"), None), ("b", 2.0, 3), ("b", None, 3)
    check_same([one, other, one], [one, one, ("b", Decimal("2.0000001"), 3)], "")
    for wrong in ([one, other, other], [one, one], [one, one, none], [one, one, ("b", 2.01, 3)]):
        with pytest.raises(AssertionError):
            check_same([one, one, other], wrong, "")
