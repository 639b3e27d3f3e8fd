"""Every view of ``cases`` through mixed batches: after each, the view equals its query, as bags, both ways."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.cases import CASES
from tests.maintain.database import BATCHES, Database, create_views, set_limits

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def database(spark):
    return Database(spark, "cases")


@pytest.fixture(scope="module")
def engine(spark, database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        set_limits(opened, views_at_once=3)  # that one after another is right, other tests show
        spark.sql("USE cases")
        yield opened
        spark.sql("USE default")


@pytest.fixture(scope="module")
def views(engine):
    create_views(engine, "v", {case.name: case.over("cases") for case in CASES})
    return [case.name for case in CASES]


# With 46 views a batch of changes takes two minutes: the others belong to the slow tests.
LONGER = {"only_inserts", "restore_and_optimize", "insert_and_delete_again"}
ORDINARY = [
    pytest.param(change, id=change.__name__, marks=[pytest.mark.slow] if change.__name__ in LONGER else [])
    for change in BATCHES
]


def check(engine, spark, case, what):
    found = difference(engine.read(f"v.{case.name}"), spark.sql(case.over("cases")), case.floats)
    assert not found, f"{case.name} after {what}: {found[:6]}"


def test_a_difference_is_seen_both_ways_and_counts_copies(spark):
    bags = [
        spark.sql(f"SELECT * FROM VALUES {rows} AS t (a, b)")
        for rows in ("(1, NULL), (1, NULL), (2, 'x')", "(1, NULL), (2, 'x'), (3, 'y')")
    ]
    assert sorted(difference(*bags)) == [("missing", (3, "y")), ("unexpected", (1, None))]
    assert not difference(bags[0], bags[0])


@pytest.mark.slow
def test_every_view_is_right_when_created(engine, spark, views):
    for case in CASES:
        check(engine, spark, case, "creation")


@pytest.mark.parametrize("change", ORDINARY)
def test_every_view_follows_its_tables(engine, spark, database, views, change):
    change(database)
    reports = {report.view: report for report in engine.maintain(raise_errors=False)}
    failures = {name: report.error for name, report in reports.items() if report.error}
    assert not failures
    for case in CASES:
        check(engine, spark, case, change.__name__)
        report = reports[f"v.{case.name}"]
        assert report.strategy in (case.strategy, "noop"), f"{case.name}: {report.strategy} because {report.detail}"


def test_a_run_without_changes_does_nothing(engine, views):
    assert {report.strategy for report in engine.maintain()} == {"noop"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["filter", "aggregates", "float_sum", "left_join", "window", "global_aggregate"])
def test_validation_agrees(engine, views, name):
    assert engine.validate(f"v.{name}").ok
