"""Tables and states that are not there: their views fail by themselves, and what only reads leaves their places alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ivm_core import Engine
from ivm_core.errors import BaseTableError, DriftError, UnknownViewError
from ivm_core.maintain import register
from tests.maintain.database import FEED, run

pytestmark = pytest.mark.spark

FAILS = "CREATE INCREMENTAL MATERIALIZED VIEW away.n AS SELECT count(*) AS n FROM away.t"
HOLDS = "CREATE INCREMENTAL MATERIALIZED VIEW away.o AS SELECT id FROM away.kept"


@pytest.fixture
def place(spark, tmp_path):
    """Open engines on one deployment, whose session has heard of nothing, as in another process."""
    run(spark, "CREATE SCHEMA away")
    for name, rows in (("t", 3), ("kept", 2)):
        run(spark, f"CREATE TABLE away.{name} (id bigint) USING DELTA LOCATION '{tmp_path}/{name}' {FEED}")
        spark.range(rows).write.format("delta").mode("append").saveAsTable(f"away.{name}")

    def connect() -> Engine:
        run(spark, "DROP SCHEMA away CASCADE", "CREATE SCHEMA away")
        return Engine.open(spark=lambda: spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w")

    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        engine.create(FAILS)
        engine.create(HOLDS)
    yield connect
    run(spark, "DROP SCHEMA away CASCADE")


def outcomes(engine) -> list[tuple[str, str | None]]:
    return [(report.view, report.error_code) for report in engine.maintain(raise_errors=False)]


def test_a_table_that_is_away_is_left_alone(spark, place, tmp_path):
    shutil.move(tmp_path / "t", tmp_path / "elsewhere")
    run(spark, f"INSERT INTO delta.`{tmp_path}/kept` VALUES (2)")
    with place() as engine:
        assert engine.pending(engine.cut()) == ("away.n", "away.o")
        assert outcomes(engine) == [("away.n", "BASE_TABLE"), ("away.o", None)]
        assert engine.query("SELECT count(*) FROM away.o").collect() == [(3,)]
        assert not (tmp_path / "t").exists()
        with pytest.raises(BaseTableError, match=r"away\.u cannot be registered.*no Delta table"):
            engine.register_table("away.u", location=str(tmp_path / "u"))
    shutil.move(tmp_path / "elsewhere", tmp_path / "t")
    with place() as engine:
        assert outcomes(engine) == [("away.n", None), ("away.o", None)]
        assert engine.query("SELECT n FROM away.n").collect() == [(3,)]


def test_a_table_without_columns_is_none(spark, place, tmp_path):
    """As a session writes it that is told of a table where none is."""
    shutil.rmtree(tmp_path / "t")
    run(spark, f"CREATE TABLE away.empty USING DELTA LOCATION '{tmp_path}/t'")
    with place() as engine:
        assert engine.pending(engine.cut()) == ("away.n",)
        assert outcomes(engine) == [("away.n", "BASE_TABLE"), ("away.o", None)]
        assert len(engine.status()) == 2
        assert [check.name for check in engine.doctor() if not check.ok and "away" in check.name] == ["table away.t"]


def test_a_state_that_is_away_is_said_to_be(spark, place):
    with place() as engine:
        state = Path(engine.catalog.view("away.n").location)
        shutil.rmtree(state)
        assert engine.query("SELECT count(*) FROM away.o").collect() == [(2,)]
        with pytest.raises(DriftError, match=r"state of away\.n at .* is missing.*ivm maintain away\.n"):
            engine.read("away.n")
        assert not state.exists()
        engine.maintain()
        assert engine.read("away.n").collect() == [(3,)]


def test_a_state_whose_log_cannot_be_read_stops_no_other_view(spark, place, tmp_path):
    run(spark, f"INSERT INTO delta.`{tmp_path}/kept` VALUES (2)")
    with place() as engine:
        log = Path(engine.catalog.view("away.n").location, "_delta_log")
        newest = max(log.glob("*.json"))
        whole = newest.read_text()
        newest.write_text('{"commitInfo":')
        (log / f".{newest.name}.crc").unlink(missing_ok=True)
    with place() as engine:
        assert engine.pending(engine.cut()) == ("away.n", "away.o")
        assert {found.view: found.status for found in engine.status()} == {"away.n": "broken", "away.o": "active"}
        assert not next(check for check in engine.doctor() if check.name == "view away.n").ok
        assert outcomes(engine) == [("away.n", "BASE_TABLE"), ("away.o", None)]
        newest.write_text(whole)
    with place() as engine:
        assert outcomes(engine) == [("away.n", None), ("away.o", None)]


def test_a_drop_that_dies_leaves_no_view_without_a_state(place, monkeypatch):
    def die(*_):
        raise RuntimeError("the process died")

    with place() as engine:
        with monkeypatch.context() as patched:
            patched.setattr(register, "drop_state", die)
            with pytest.raises(RuntimeError):
                engine.drop("away.n")
        with pytest.raises(UnknownViewError):
            engine.catalog.view("away.n")
        engine.create(FAILS)
        assert engine.read("away.n").collect() == [(3,)]


def test_a_view_that_another_process_made_anew_is_read_where_it_is(spark, place, tmp_path):
    with place() as engine:
        assert engine.read("away.o").count() == 2
        with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as other:
            known = other.catalog.view("away.o")
            # The session of that process is another one: this one hears of nothing.
            other._session.show = lambda view: True
            other.catalog.remove_view(known.name)
            shutil.rmtree(known.location)
            other.create(HOLDS.replace("SELECT id", "SELECT id, id + 1 AS next"))
        assert sorted(engine.read("away.o").collect()) == [(0, 1), (1, 2)]
