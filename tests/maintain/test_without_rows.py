"""Commits that change no row: views stand still, and what they read stays readable, and of the columns that there are now."""

from __future__ import annotations

import pytest

from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import BaseTableError
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
    place().maintain()
    assert right(reader, spark, query)


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
