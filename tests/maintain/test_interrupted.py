"""A batch that was begun and not committed, whose tables are others by the time it could go on."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import HistoryGone
from ivm_core.maintain import view as batches
from ivm_core.maintain.session import TIME_ZONE
from tests.bags import difference
from tests.maintain.database import run
from tests.sampling import one_in

pytestmark = pytest.mark.spark

QUERY = "SELECT id, v FROM interrupted.t"
TABLE = "CREATE TABLE interrupted.t (id int, v int) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


def die(*_):
    raise RuntimeError("the process died")


@pytest.fixture(params=one_in(2, ["auto", "incremental_strict"]))
def engine(spark, tmp_path, monkeypatch, request):
    """A view with a batch that died before its commit."""
    run(spark, "CREATE SCHEMA interrupted", TABLE, "INSERT INTO interrupted.t VALUES (1, 10), (2, 20)")
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        opened.create(
            "CREATE INCREMENTAL MATERIALIZED VIEW interrupted.rows "
            f"TBLPROPERTIES ('ivm.refresh_policy' = '{request.param}') AS {QUERY}"
        )
        run(spark, "UPDATE interrupted.t SET v = 21 WHERE id = 2", "INSERT INTO interrupted.t VALUES (3, 30)")

        with monkeypatch.context() as patched:
            patched.setattr(batches, "_execute", die)
            (report,) = opened.maintain(policy="incremental", raise_errors=False)
        assert "died" in report.error and opened.catalog.open_intents("interrupted.rows")
        opened.strict = request.param == "incremental_strict"
        yield opened
    run(spark, "DROP SCHEMA interrupted CASCADE")


def check(engine, spark) -> None:
    """The policy decides between a full refresh and a refusal that says why; never are rows of two tables mixed."""
    (report,) = engine.maintain(raise_errors=False)
    if engine.strict:
        assert "incremental_strict" in report.error
        assert sorted(engine.read("interrupted.rows").collect()) == [(1, 10), (2, 20)]
        engine.refresh("interrupted.rows")
    else:
        assert report.strategy == "full", report.error
    assert not difference(engine.read("interrupted.rows"), spark.sql(QUERY))
    assert not engine.catalog.open_intents("interrupted.rows")


@pytest.mark.parametrize("versions", [1, 4], ids=["fewer versions", "as many versions"])
def test_its_table_was_made_anew(engine, spark, versions):
    run(spark, "DROP TABLE interrupted.t", TABLE)
    run(spark, *(f"INSERT INTO interrupted.t VALUES ({100 + n}, {n})" for n in range(versions)))
    check(engine, spark)


def test_its_versions_are_gone(engine, spark):
    run(
        spark,
        "ALTER TABLE interrupted.t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')",
        "INSERT INTO interrupted.t VALUES (4, 40)",
    )
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    run(spark, "VACUUM interrupted.t RETAIN 0 HOURS")
    spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    with pytest.raises(HistoryGone):
        engine.validate("interrupted.rows")
    check(engine, spark)


def test_the_next_run_has_a_session_of_another_time_zone(engine, spark, tmp_path):
    """Where the session is opened by the run itself, its time zone is not known before."""
    dates = "SELECT id, to_date(at) AS day FROM interrupted.instants"
    run(
        spark,
        TABLE.replace("interrupted.t (id int, v int)", "interrupted.instants (id int, at timestamp)"),
        "INSERT INTO interrupted.instants VALUES (1, TIMESTAMP '2026-01-01 12:00:00')",
    )
    engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW interrupted.days AS {dates}")
    run(spark, "INSERT INTO interrupted.instants VALUES (2, TIMESTAMP '2026-01-02 12:00:00')")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batches, "_execute", die)
        engine.maintain(("interrupted.days",), policy="incremental", raise_errors=False)
    assert engine.catalog.open_intents("interrupted.days")
    before = spark.conf.get(TIME_ZONE)
    spark.conf.set(TIME_ZONE, "Pacific/Kiritimati")  # where noon in UTC is the next day
    catalog, warehouse = f"sqlite:///{tmp_path}/ivm.db", tmp_path / "w"
    try:
        with Engine.open(spark=lambda: spark, catalog=catalog, warehouse=warehouse) as later:
            (report,) = later.maintain(("interrupted.days",))
            assert (report.strategy, report.reason) == ("full", "time_zone_changed")
            assert not difference(later.read("interrupted.days"), spark.sql(dates))
    finally:
        spark.conf.set(TIME_ZONE, before)
