"""Base tables whose columns change under their views: the others go on, a used one stops them until `ivm apply`."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import DefinitionError, SchemaChangedError, UnknownColumnError
from tests.bags import difference
from tests.maintain.database import run

pytestmark = pytest.mark.spark

QUERY = "SELECT g, count(*) AS n, sum(v) AS total FROM evolving.t GROUP BY g"
VIEW = f"CREATE INCREMENTAL MATERIALIZED VIEW evolving.totals TBLPROPERTIES ('ivm.refresh_policy' = 'incremental') AS {QUERY};\n"
TABLE = (
    "(id int, g string, v int, spare int) USING DELTA TBLPROPERTIES ("
    "'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableTypeWidening' = 'true')"
)


@pytest.fixture
def engine(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    run(
        spark,
        "CREATE SCHEMA evolving",
        f"CREATE TABLE evolving.t {TABLE}",
        "INSERT INTO evolving.t VALUES (1, 'a', 10, 0)",
    )
    (tmp_path / "sql" / "views").mkdir(parents=True)
    (tmp_path / "sql" / "views" / "totals.sql").write_text(VIEW)
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        opened.apply(tmp_path / "sql")
        yield opened
    run(spark, "DROP SCHEMA evolving CASCADE")


def right(engine, spark) -> bool:
    return not difference(engine.read("evolving.totals"), spark.sql(QUERY))


def test_columns_that_no_view_uses_come_and_go(engine, spark):
    for change in ("ADD COLUMN more string", "RENAME COLUMN spare TO other", "DROP COLUMN other"):
        run(spark, f"ALTER TABLE evolving.t {change}", "INSERT INTO evolving.t (id, g, v) VALUES (2, 'a', 5)")
        (report,) = engine.maintain()
        assert (str(report.strategy), report.error) == ("incremental", None)
        assert right(engine, spark)


@pytest.mark.parametrize("change", ["DROP COLUMN v", "RENAME COLUMN v TO w"])
def test_a_used_column_that_is_gone_stops_the_view(engine, spark, change):
    before = engine.read("evolving.totals").collect()
    run(spark, "INSERT INTO evolving.t VALUES (2, 'b', 20, 0)", f"ALTER TABLE evolving.t {change}")
    for work in (engine.maintain, lambda: engine.refresh("evolving.totals")):
        with pytest.raises(SchemaChangedError, match=r"evolving\.t\.v was dropped or renamed.*ivm apply"):
            work()
    assert engine.read("evolving.totals").collect() == before
    if change.startswith("RENAME"):
        run(spark, "ALTER TABLE evolving.t RENAME COLUMN w TO v")
        assert engine.maintain()[0].strategy in ("incremental", "full")
        assert right(engine, spark)


def test_a_retyped_column_is_adopted_by_apply(engine, spark, tmp_path):
    run(
        spark,
        "ALTER TABLE evolving.t ALTER COLUMN v TYPE bigint",
        "INSERT INTO evolving.t VALUES (2, 'a', 3000000000, 0)",
    )
    with pytest.raises(SchemaChangedError, match=r"evolving\.t\.v is bigint now, no longer int"):
        engine.maintain()
    (change,) = engine.apply(tmp_path / "sql")
    assert change.action == "replace" and "bigint" in change.detail
    assert right(engine, spark)
    run(spark, "INSERT INTO evolving.t VALUES (3, 'a', 4000000000, 0)")
    (report,) = engine.maintain()
    assert report.strategy == "incremental" and right(engine, spark)
    assert [change.action for change in engine.apply(tmp_path / "sql")] == ["unchanged"]


def test_what_is_asked_for_takes_up_the_columns_that_a_star_means_now(engine, spark):
    engine.create("CREATE INCREMENTAL MATERIALIZED VIEW evolving.whole AS SELECT * FROM evolving.t")
    ways = (lambda: engine.refresh("evolving.whole"), lambda: engine.maintain(["evolving.whole"], mode="full")[0])
    for place, way in enumerate(ways):
        run(
            spark,
            f"ALTER TABLE evolving.t ADD COLUMN more_{place} int",
            f"INSERT INTO evolving.t (id) VALUES ({place})",
        )
        engine.register_table("evolving.t")  # learns of the column
        engine._session.forget(engine.catalog.view("evolving.whole").view_id)  # as another process
        assert (way().strategy, engine.read("evolving.whole").columns[-1]) == ("full", f"more_{place}")
    assert not difference(engine.read("evolving.whole"), spark.sql("SELECT * FROM evolving.t"))


IDS = "CREATE INCREMENTAL MATERIALIZED VIEW evolving.ids AS SELECT id, g FROM evolving.t"


def outcomes(engine) -> dict[str, str | None]:
    return {report.view: report.error_code for report in engine.maintain(raise_errors=False)}


def test_a_view_that_no_longer_compiles_stops_alone(engine, spark, tmp_path):
    engine.create(IDS)
    run(spark, "ALTER TABLE evolving.t DROP COLUMN v", "INSERT INTO evolving.t VALUES (2, 'b', 0)")
    one_stops = {"evolving.ids": None, "evolving.totals": "SCHEMA_CHANGED"}
    assert outcomes(engine) == one_stops
    engine.explain("CREATE INCREMENTAL MATERIALIZED VIEW evolving.other AS SELECT spare FROM evolving.t")
    assert "v" in dict(engine.catalog.table("evolving.t").columns)  # it changes nothing
    with pytest.raises(DefinitionError, match=r"totals\.sql: There is no column 'v'"):
        engine.apply(tmp_path / "sql")
    assert "v" not in dict(engine.catalog.table("evolving.t").columns)
    run(spark, "INSERT INTO evolving.t VALUES (3, 'b', 0)")
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as later:
        assert outcomes(later) == one_stops
        assert later.query("SELECT count(*) FROM evolving.ids").collect() == [(3,)]
        assert {found.view: found.status for found in later.status()} == {
            "evolving.ids": "active",
            "evolving.totals": "broken",
        }
        assert "its query no longer compiles" in [check.detail for check in later.doctor()]
        (tmp_path / "sql" / "views" / "totals.sql").write_text(VIEW.replace("sum(v)", "sum(id)"))
        assert [change.action for change in later.plan(tmp_path / "sql")] == ["replace", "unmanaged"]
        later.apply(tmp_path / "sql")
        assert not difference(later.read("evolving.totals"), spark.sql(QUERY.replace("sum(v)", "sum(id)")))


def test_a_key_over_a_column_that_is_gone_is_no_key(engine, spark):
    engine.create(IDS)
    engine.register_table("evolving.t", primary_key=["id"], foreign_keys=[(("spare",), "evolving.t", ("id",))])
    run(spark, "ALTER TABLE evolving.t DROP COLUMN spare", "INSERT INTO evolving.t VALUES (2, 'a', 5)")
    engine.create(IDS.replace("ids", "others").replace("id, g", "id"))  # learns of the column
    assert set(outcomes(engine).values()) == {None}
    assert right(engine, spark)
    with pytest.raises(UnknownColumnError, match=r"evolving\.t has no column spare, which a key.*id, g, v"):
        engine.register_table("evolving.t", primary_key=["spare"])
