"""Commits that change no row: views stand still, and what they read stays readable, and of the columns that there are now."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from deltalake import DeltaTable

from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import BaseTableError, NotIncrementalError
from tests.bags import difference
from tests.maintain.database import FEED, processes, run

pytestmark = pytest.mark.spark

PARTS = (
    "WITH sums AS MATERIALIZED (SELECT g, sum(v) AS s FROM still.f GROUP BY g) "
    "SELECT f.id{more}, d.name, sums.s FROM still.f JOIN sums ON sums.g = f.g JOIN still.d ON d.g = f.g"
)
CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


@pytest.fixture
def place(spark, tmp_path, monkeypatch):
    """Open engines on one deployment, as several processes would."""
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    kept = FEED.replace(")", ", 'delta.deletedFileRetentionDuration' = 'interval 0 hours')")
    run(
        spark,
        "CREATE SCHEMA still",
        f"CREATE TABLE still.f (id int, g int, v int) USING DELTA {kept}",
        f"CREATE TABLE still.d (g int, name string) USING DELTA {FEED}",
        "INSERT INTO still.f VALUES (1, 1, 10), (2, 1, 20)",
        "INSERT INTO still.f VALUES (3, 2, 30)",
        "INSERT INTO still.d VALUES (1, 'one'), (2, 'two')",
    )
    with processes(spark, tmp_path) as connect:
        yield connect
    run(spark, "DROP SCHEMA still CASCADE")


def define(engine, query):
    return engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW still.v AS {query}")


def right(engine, spark, query) -> bool:
    return not difference(engine.read("still.v"), spark.sql(query.replace(" AS MATERIALIZED", " AS")))


def rewrite_files(spark):
    """Put the table's files together, and delete those that it had."""
    run(spark, "OPTIMIZE still.f")
    spark.conf.set(CHECK, "false")
    run(spark, "VACUUM still.f RETAIN 0 HOURS")
    spark.conf.unset(CHECK)


def test_a_view_is_compared_when_the_files_of_its_last_batch_are_gone(place, spark):
    engine = place()
    define(engine, "SELECT id, v FROM still.f")
    rewrite_files(spark)
    assert engine.validate("still.v").ok
    (report,) = engine.maintain()
    assert str(report.strategy) == "noop"


@pytest.mark.slow
def test_a_view_goes_on_when_the_files_that_its_part_was_made_of_are_gone(place, spark):
    engine, query = place(), PARTS.format(more="")
    define(engine, query)
    rewrite_files(spark)
    run(spark, "INSERT INTO still.d VALUES (1, 'uno')")
    strategies = {report.view: str(report.strategy) for report in engine.maintain()}
    assert strategies["still.v__sums"] == "noop" and strategies["still.v"] != "full"
    assert right(engine, spark, query)
    run(spark, "INSERT INTO still.f VALUES (4, 2, 5)")
    engine.maintain()
    assert right(engine, spark, query)


@pytest.mark.parametrize("changes", [(), ("INSERT INTO still.f VALUES (4, 2, 5, 7)",)], ids=["no rows", "rows"])
def test_a_view_takes_up_a_column_that_came_after_its_part_was_made(place, spark, tmp_path, changes):
    engine, file = place(), tmp_path / "sql" / "views" / "v.sql"
    file.parent.mkdir(parents=True)
    for more in ("", ", f.c"):
        query = PARTS.format(more=more)
        file.write_text(f"CREATE INCREMENTAL MATERIALIZED VIEW still.v AS {query};\n")
        engine.apply(tmp_path / "sql")
        assert right(engine, spark, query)
        if not more:
            run(spark, "ALTER TABLE still.f ADD COLUMN c int", *changes)
    run(spark, "INSERT INTO still.f VALUES (5, 1, 1, 1)")
    engine.maintain()
    assert right(engine, spark, query)


@pytest.mark.parametrize("query", ["SELECT * FROM still.f", "SELECT * FROM still.f ORDER BY v DESC, id LIMIT 2"])
def test_a_view_whose_query_means_another_column_is_computed_anew_without_changes(place, spark, query):
    define(place(), query)
    run(spark, "ALTER TABLE still.f ADD COLUMN c int")
    place().create("CREATE INCREMENTAL MATERIALIZED VIEW still.w AS SELECT c FROM still.f")  # learns of the column
    later = place()
    with pytest.raises(BaseTableError, match=r"another plan.*ivm maintain still\.v"):
        later.validate("still.v")
    (report,) = later.maintain(["still.v"])
    assert (report.strategy, report.reason) == (Strategy.FULL, Reason.PLAN_CHANGED)
    assert later.validate("still.v").ok and right(later, spark, query)
    (report,) = place().maintain(["still.v"])
    assert str(report.strategy) == "noop"


def test_a_process_shows_what_another_one_has_given_a_column(place, spark):
    query = "SELECT DISTINCT * FROM (SELECT * FROM still.f) AS f"
    reader = place()
    define(reader, query)
    assert reader.read("still.v").columns == ["id", "g", "v"]
    run(spark, "ALTER TABLE still.f ADD COLUMN c int", "INSERT INTO still.f VALUES (1, 1, 10, 7), (1, 1, 10, 8)")
    writer = place()
    writer.create("CREATE INCREMENTAL MATERIALIZED VIEW still.w AS SELECT c FROM still.f")
    place().maintain(run_id="all")
    assert reader.validate("still.v").ok
    assert reader.read_published(reader.catalog.view("still.v").group)["still.v"].columns == ["id", "g", "v", "c"]
    assert right(reader, spark, query)


def test_a_process_knows_what_another_one_has_made_a_view_to_those_above(place, spark):
    one = place()
    define(one, "SELECT DISTINCT * FROM (SELECT * FROM still.f) AS f")
    above = "SELECT g, count(*) AS n FROM still.v GROUP BY g"
    one.create(f"CREATE INCREMENTAL MATERIALIZED VIEW still.above AS {above}")
    run(spark, "ALTER TABLE still.f ADD COLUMN c int", "INSERT INTO still.f VALUES (1, 1, 10, 7), (1, 1, 10, 8)")
    writer = place()
    writer.create("CREATE INCREMENTAL MATERIALIZED VIEW still.w AS SELECT c FROM still.f")
    writer.maintain()
    run(spark, "INSERT INTO still.f VALUES (5, 1, 10, 7)")
    writer.maintain(["still.v"])
    (report,) = one.maintain(["still.above"])
    assert (report.strategy, one.validate("still.above").ok) == ("incremental", True)
    assert not difference(one.read("still.above"), spark.sql(above))
    assert str(place().maintain(["still.above"])[0].strategy) == "noop"


@pytest.mark.slow
def test_a_refresh_takes_a_table_as_it_is_where_it_can_be_read_no_more_as_it_was(place, spark):
    query = "SELECT f.id, d.name FROM still.d JOIN still.f ON d.g = f.g"
    engine = place()
    define(engine, query)
    run(spark, "INSERT INTO still.d VALUES (1, 'uno')")
    cut = engine.cut()
    run(spark, "DELETE FROM still.f WHERE id = 1")
    rewrite_files(spark)
    (report,) = engine.maintain(cut=cut)
    assert (report.strategy, report.reason) == ("full", "history_gone")
    assert right(engine, spark, query)


@pytest.mark.parametrize("catalogue_of_before", [False, True])
def test_a_view_whose_log_no_longer_tells_of_its_last_batch_is_refreshed(place, spark, tmp_path, catalogue_of_before):
    query = "SELECT g, sum(v) AS s FROM still.f GROUP BY g"
    view = define(place(), query)
    for v in (40, 50):
        run(spark, f"INSERT INTO still.f VALUES (4, 2, {v})")
        assert str(place().maintain()[0].strategy) == "incremental"
    if catalogue_of_before:  # put back from a backup: it does not know of the last batches
        (catalogue,) = tmp_path.glob("*.db")
        with closing(sqlite3.connect(catalogue)) as connection:
            for table in ("ivm_intents", "ivm_batches"):
                connection.execute(f"DELETE FROM {table} WHERE number > 1")
            connection.commit()
    run(spark, "INSERT INTO still.f VALUES (5, 2, 60)")
    state = f"delta.`{view.location}`"
    run(
        spark,
        f"ALTER TABLE {state} SET TBLPROPERTIES ('a' = 'b')",
        f"ALTER TABLE {state} SET TBLPROPERTIES ('a' = 'c')",
    )
    DeltaTable(view.location).create_checkpoint()
    for old in sorted(Path(view.location, "_delta_log").glob("*.json"))[:-1]:
        old.unlink()
    with pytest.raises(NotIncrementalError, match="no longer holds the commit of its last batch"):
        place().maintain(policy="incremental_strict")
    (report,) = place().maintain()
    assert (report.strategy, report.reason) == ("full", "history_gone")
    assert right(place(), spark, query)
    assert str(place().maintain()[0].strategy) == "noop"


def test_a_view_is_not_compared_in_another_time_zone(place, spark):
    engine = place()
    run(
        spark,
        f"CREATE TABLE still.e (id int, at timestamp) USING DELTA {FEED}",
        "INSERT INTO still.e VALUES (1, TIMESTAMP '2026-01-01 23:30:00')",
    )
    define(engine, "SELECT id, to_date(at) AS day FROM still.e")
    zone = spark.conf.get("spark.sql.session.timeZone")
    try:
        spark.conf.set("spark.sql.session.timeZone", "Pacific/Apia")
        with pytest.raises(BaseTableError, match=rf"time zone is Pacific/Apia, and its rows are of {zone}"):
            engine.validate("still.v")
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert engine.validate("still.v").ok
