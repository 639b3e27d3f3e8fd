"""Every view of ``cases`` through mixed batches: after each, the view equals its query, as bags, both ways."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain import test_large_tables, test_many_changes
from tests.maintain.cases import CASES
from tests.maintain.database import (
    BATCHES,
    Database,
    create_views,
    first_mix,
    groups_vanish_and_tables_are_replaced,
    set_limits,
)

pytestmark = pytest.mark.spark


# With 46 views a batch of changes takes two minutes. In the ordinary run one half of those that no other test takes through
# ``first_mix`` follows that batch, and the other half that one and the next together; the slow tests take all through all.
ELSEWHERE = {*test_large_tables.NAMES, *test_many_changes.SOME}
SOME = tuple(case for case in CASES if case.name not in ELSEWHERE)
TURNS = {first_mix: SOME[::2], groups_vanish_and_tables_are_replaced: SOME[1::2]}


@pytest.fixture(scope="module")
def database(spark):
    return Database(spark, "cases")


@pytest.fixture(scope="module")
def engine(spark, database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        set_limits(opened, views_at_once=3)  # that one after another is right, other tests show
        yield opened


@pytest.fixture(scope="module")
def all_views(engine):
    create_views(engine, "v", {case.name: case.over("cases") for case in CASES})


@pytest.fixture(scope="module")
def some_views(engine):
    create_views(engine, "some", {case.name: case.over("cases") for case in SOME})


def check(engine, spark, schema, cases, what, reports=()):
    """Each view equals its query, and was maintained by its strategy where there are reports."""
    found = {report.view: report for report in reports}
    assert not {name: report.error for name, report in found.items() if report.error}
    for case in cases:
        wrong = difference(engine.read(f"{schema}.{case.name}"), spark.sql(case.over("cases")), case.floats)
        assert not wrong, f"{case.name} after {what}: {wrong[:6]}"
        report = found.get(f"{schema}.{case.name}")
        assert not report or report.strategy in (case.strategy, "noop"), (case.name, report.strategy, report.detail)


def test_a_difference_is_seen_both_ways_and_counts_copies(spark):
    bags = [
        spark.sql(f"SELECT * FROM VALUES {rows} AS t (a, b)")
        for rows in ("(1, NULL), (1, NULL), (2, 'x')", "(1, NULL), (2, 'x'), (3, 'y')")
    ]
    assert sorted(difference(*bags)) == [("missing", (3, "y")), ("unexpected", (1, None))]
    assert not difference(bags[0], bags[0])


def test_views_follow_their_tables(engine, spark, database, some_views):
    for change, cases in TURNS.items():
        change(database)
        reports = engine.maintain([f"some.{case.name}" for case in cases], raise_errors=False)
        assert len(reports) == len(cases)
        check(engine, spark, "some", cases, change.__name__, reports)


def test_a_run_without_changes_does_nothing(engine, some_views):
    last = [f"some.{case.name}" for case in SOME[1::2]]
    assert {report.strategy for report in engine.maintain(last)} == {"noop"}


@pytest.mark.slow
def test_every_view_is_right_when_created(engine, spark, all_views):
    check(engine, spark, "v", CASES, "creation")


@pytest.mark.slow
@pytest.mark.parametrize("change", BATCHES, ids=lambda change: change.__name__)
def test_every_view_follows_its_tables(engine, spark, database, all_views, change):
    change(database)
    reports = engine.maintain([f"v.{case.name}" for case in CASES], raise_errors=False)
    assert len(reports) == len(CASES)
    check(engine, spark, "v", CASES, change.__name__, reports)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["filter", "aggregates", "float_sum", "left_join", "window", "global_aggregate"])
def test_validation_agrees(engine, all_views, name):
    assert engine.validate(f"v.{name}").ok
