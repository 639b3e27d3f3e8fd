"""The first rows of an order on Delta tables: shown, refilled, read by a view above, repaired, and refreshed."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.delta import first_rows
from ivm_core.engine.snapshots import Snapshots
from ivm_core.plan.nodes import HIDDEN_PREFIX
from tests.maintain.database import FEED, check_views, create_views, run

pytestmark = pytest.mark.spark

SCHEMA = "firsts"
QUERIES = {
    "best": f"SELECT id, score FROM {SCHEMA}.games ORDER BY score DESC, id LIMIT 5",
    "next_names": f"SELECT name FROM {SCHEMA}.games WHERE score > 10 ORDER BY score DESC LIMIT 3 OFFSET 2",
    "with_team": f"SELECT g.id, t.town FROM {SCHEMA}.games g LEFT JOIN {SCHEMA}.teams t ON g.name = t.name ORDER BY g.id DESC LIMIT 4",
    # Zeros are equal, and NaN is the largest number and equal to itself.
    "odd": f"SELECT CASE score % 4 WHEN 0 THEN -0.0D WHEN 1 THEN 0.0D WHEN 2 THEN double('NaN') END AS x, id % 9 AS i "
    f"FROM {SCHEMA}.games ORDER BY x DESC NULLS LAST, i LIMIT 30",
}
ABOVE = {"towns": f"SELECT town, count(*) AS n FROM {SCHEMA}.with_team GROUP BY town"}
CHANGES = {
    "far behind": (f"INSERT INTO {SCHEMA}.games VALUES (901, 'a', -5), (902, NULL, NULL)",),
    "a new best": (f"INSERT INTO {SCHEMA}.games VALUES (903, 'b', 1000), (904, 'b', 1000)",),
    "better and worse": (f"UPDATE {SCHEMA}.games SET score = score + 7 WHERE id % 9 = 0",),
    "some of the best go": (f"DELETE FROM {SCHEMA}.games WHERE score > 900",),
    "nothing changes": (f"UPDATE {SCHEMA}.games SET name = name WHERE id = 1",),
    "all the best go": (f"DELETE FROM {SCHEMA}.games WHERE id % 2 = 0 OR id > 60",),
    "teams": (f"INSERT INTO {SCHEMA}.teams VALUES ('a', 'Ulm')", f"DELETE FROM {SCHEMA}.teams WHERE town = 'Bonn'"),
    "few are left": (f"DELETE FROM {SCHEMA}.games WHERE id > 2 AND id < 900",),
    "none are left": (f"DELETE FROM {SCHEMA}.games",),
    "there are some again": (f"INSERT INTO {SCHEMA}.games SELECT id, 'c', id FROM range(30)",),
}


@pytest.fixture
def engine(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(first_rows, "LEAST_SPARE", 0)
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    run(
        spark,
        f"CREATE SCHEMA {SCHEMA}",
        f"CREATE TABLE {SCHEMA}.games (id BIGINT, name STRING, score BIGINT) USING DELTA {FEED}",
        f"CREATE TABLE {SCHEMA}.teams (name STRING, town STRING) USING DELTA {FEED}",
        f"INSERT INTO {SCHEMA}.games SELECT id, substr('abc', cast(id % 3 AS INT) + 1, 1), id * 37 % 101 FROM range(100)",
        f"INSERT INTO {SCHEMA}.teams VALUES ('a', 'Bonn'), ('b', 'Kiel'), ('b', 'Jena')",
    )
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path / "w")) as opened:
        create_views(opened, SCHEMA, QUERIES | ABOVE)
        yield opened


@pytest.mark.slow
def test_the_first_rows_are_followed(spark, engine):
    strategies = set()
    for what, statements in CHANGES.items():
        run(spark, *statements)
        reports = {report.view.removeprefix(f"{SCHEMA}."): report for report in engine.maintain()}
        check_views(engine, SCHEMA, QUERIES | ABOVE, what)
        strategies |= {str(reports[name].strategy) for name in ("best", "next_names")}
        assert {str(report.strategy) for report in reports.values()} <= {"incremental", "affected", "noop"}
    assert strategies == {"incremental", "noop"}
    assert all(report.ok for report in (engine.validate(f"{SCHEMA}.{name}") for name in QUERIES))


def test_a_table_is_read_only_where_too_few_rows_are_left(spark, engine, monkeypatch):
    opened: list[int] = []
    for owner, name in ((Snapshots, "in_memory"), (Snapshots, "bounded")):
        whole = getattr(owner, name)

        def noted(self, relation, version, *rest, whole=whole):
            opened.append(version)
            return whole(self, relation, version, *rest)

        monkeypatch.setattr(owner, name, noted)
    run(spark, *CHANGES["a new best"])
    engine.maintain([f"{SCHEMA}.best"])
    assert not opened
    run(spark, *CHANGES["all the best go"])
    engine.maintain([f"{SCHEMA}.best"])
    assert opened
    check_views(engine, SCHEMA, {"best": QUERIES["best"]})


def test_the_columns_that_only_order_rows_are_not_shown(engine):
    shown = engine.read(f"{SCHEMA}.next_names")
    assert shown.columns == ["name"]
    assert not [name for name in engine.spark.table(f"{SCHEMA}.best").columns if name.startswith(HIDDEN_PREFIX)]


@pytest.mark.slow
def test_a_damaged_state_is_found_and_mended(spark, engine):
    status = {each.view: each for each in engine.status()}[f"{SCHEMA}.best"]
    assert not status.reads_as_is
    [location] = [view.location for view in engine._session.catalog.views() if view.name == f"{SCHEMA}.best"]
    best = engine.read(f"{SCHEMA}.best").first().id
    run(spark, f"DELETE FROM delta.`{location}` WHERE id = {best}")
    assert not engine.validate(f"{SCHEMA}.best").ok
    engine.repair(f"{SCHEMA}.best")
    check_views(engine, SCHEMA, {"best": QUERIES["best"]}, "repaired")
    run(spark, *CHANGES["better and worse"])
    engine.maintain()
    check_views(engine, SCHEMA, QUERIES | ABOVE, "after the repair")
