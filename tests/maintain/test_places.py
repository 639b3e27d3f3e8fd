"""Base tables that are made anew, or registered, at another place: views follow them there."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import BaseTableError
from tests.maintain.database import FEED, run

pytestmark = pytest.mark.spark


@pytest.fixture
def place(spark, schema, tmp_path, monkeypatch):
    """Open engines on one deployment: a view of ``t``, whose table lies at ``old``."""
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    run(spark, f"CREATE TABLE {schema}.t USING DELTA LOCATION '{tmp_path}/old' AS SELECT 1 AS id")
    opened = []

    def connect(*, given: bool = True) -> Engine:
        catalog = f"sqlite:///{tmp_path}/ivm.db"
        opened.append(Engine.open(spark=spark if given else lambda: spark, catalog=catalog, warehouse=tmp_path / "w"))
        return opened[-1]

    connect().create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.v AS SELECT id FROM {schema}.t")
    yield connect
    for engine in opened:
        engine.close()


def made_anew(spark, schema, where: str) -> None:
    run(spark, f"DROP TABLE {schema}.t", f"CREATE TABLE {schema}.t USING DELTA {where} AS SELECT 2 AS id")


def follows(engine, schema, *ids: int) -> bool:
    (report,) = engine.maintain([f"{schema}.v"])
    assert (report.strategy, report.reason) == ("full", "table_replaced"), report.detail
    return sorted(row.id for row in engine.read(f"{schema}.v").collect()) == sorted(ids)


@pytest.mark.parametrize("given", [True, False], ids=["a session that is open", "a session that a batch would open"])
def test_a_table_that_was_made_anew_at_another_place(place, spark, schema, tmp_path, given):
    made_anew(spark, schema, f"LOCATION '{tmp_path}/new'")
    engine = place(given=given)
    if not given:
        with pytest.raises(BaseTableError, match="created again"):
            engine.validate(f"{schema}.v")
    assert follows(engine, schema, 2)
    assert engine.validate(f"{schema}.v").ok
    # Nothing that the session was told of the place before, as of a name that only this package made, takes it back there.
    run(spark, f"DROP TABLE {schema}.t", f"CREATE TABLE {schema}.t USING DELTA LOCATION '{tmp_path}/old'")
    later = place()
    assert later.maintain()[0].strategy == "noop"
    later.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.w AS SELECT max(id) AS id FROM {schema}.t")
    assert later.catalog.table(f"{schema}.t").location == f"{tmp_path}/new"
    run(spark, f"CREATE OR REPLACE TABLE {schema}.u USING DELTA LOCATION '{tmp_path}/third' AS SELECT 3 AS id")
    later.register_table(f"{schema}.t", location=f"{tmp_path}/third")
    assert follows(place(), schema, 3)


def test_a_table_that_was_made_anew_in_its_place_before_it_moved(place, spark, schema, tmp_path):
    run(spark, f"CREATE OR REPLACE TABLE {schema}.t USING DELTA LOCATION '{tmp_path}/old' AS SELECT 5 AS id")
    assert follows(place(), schema, 5)
    made_anew(spark, schema, f"LOCATION '{tmp_path}/new'")
    assert follows(place(), schema, 2)
    # As in a session that still knows the name of before.
    run(spark, f"DROP TABLE {schema}.t", f"CREATE TABLE {schema}.t USING DELTA LOCATION '{tmp_path}/old'")
    assert place().maintain()[0].strategy == "noop"


def test_a_missing_table_that_its_name_has_elsewhere(place, spark, schema, tmp_path):
    made_anew(spark, schema, f"LOCATION '{tmp_path}/new'")
    (tmp_path / "old").rename(tmp_path / "away")
    assert follows(place(given=False), schema, 2)


def test_a_place_that_is_given_is_taken(place, spark, schema, tmp_path):
    spark.range(10).selectExpr("CAST(id AS INT) AS id").write.format("delta").save(f"{tmp_path}/new")
    engine = place()
    with pytest.raises(BaseTableError, match="no Delta table"):
        engine.register_table(f"{schema}.t", location=f"{tmp_path}/none")
    assert engine.register_table(f"{schema}.t", location=f"{tmp_path}/new").location == f"{tmp_path}/new"
    assert follows(engine, schema, *range(10))
    run(spark, f"CREATE TABLE {schema}.managed (id INT) USING DELTA {FEED}")
    with pytest.raises(BaseTableError, match="would delete it"):
        engine.register_table(f"{schema}.managed", location=f"{tmp_path}/new")


def test_apply_looks_where_tables_are(place, spark, schema, tmp_path):
    (tmp_path / "sql" / "tables").mkdir(parents=True)
    (tmp_path / "sql" / "tables" / "t.sql").write_text(f"CREATE TABLE {schema}.t (id INT) USING DELTA;\n")
    engine = place()
    engine.apply(tmp_path / "sql")
    made_anew(spark, schema, "")
    engine.apply(tmp_path / "sql")
    assert "/old" not in engine.catalog.table(f"{schema}.t").location
    assert follows(place(), schema, 2)
