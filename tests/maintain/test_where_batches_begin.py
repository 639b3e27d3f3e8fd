"""A batch begins where its view stands: elsewhere it would add rows twice, or leave some out. Without Spark but for one test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from ivm_core import Engine
from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange, TableVersion
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import LifeStage, TableRecord, ViewRecord
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.engine.log import TableLog
from ivm_core.errors import Busy
from ivm_core.maintain import view as batches
from ivm_core.maintain.inspect import _Lag
from ivm_core.maintain.next_batch import next_batch, not_before
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing
from ivm_core.plan.definition import Policy
from ivm_core.settings import Settings
from tests.bags import difference
from tests.maintain.database import FEED, run

VIEW = ViewRecord(
    "id-of-v", "s.v", "CREATE MATERIALIZED VIEW s.v AS SELECT k FROM s.t", "default", None, Policy.AUTO, "plan",
    (("k", "bigint"),), ("s.t",), "/nowhere", LifeStage.ACTIVE, datetime(2026, 1, 1, tzinfo=UTC),
)  # fmt: skip
INCREMENTAL = Decision(Strategy.INCREMENTAL, Reason.LINEAR)


def append(table: Path, commits: int = 1) -> None:
    for _ in range(commits):
        deltalake.write_deltalake(str(table), pa.table({"k": [1]}), mode="append")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    append(tmp_path / "t", 3)
    return tmp_path / "t"


@pytest.fixture
def session(table: Path, tmp_path: Path) -> Iterator[Session]:
    settings = Settings.load(catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=str(tmp_path / "w"))
    with Catalog.open(settings.catalog) as catalog:
        catalog.upsert_table(TableRecord("s.t", TableLog(str(table)).table_id(), str(table), (("k", "bigint"),)))
        catalog.add_view(VIEW)
        yield Session(settings, catalog)


def stood(table: Path, version: int, number: int = 1) -> Standing:
    version_of_t = TableVersion("s.t", TableLog(str(table)).table_id(), version)
    return Standing(number, "own", (version_of_t,), "plan", 0, touched=False)


def batch(table: Path, start: int, end: int, number: int = 2) -> Batch:
    covered = TableRange("s.t", TableLog(str(table)).table_id(), start, end, CommitClass.INSERT_ONLY)
    return Batch("s.v", number, (covered,), "plan")


def test_a_batch_from_where_the_view_stood_before_is_not_run(
    session: Session, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "standing", lambda *_: stood(table, 2))
    with pytest.raises(Busy, match="Run again"):
        batches._run(session, VIEW, batch(table, 1, 2), INCREMENTAL, None)
    assert not session.catalog.open_intents("s.v")


@pytest.mark.parametrize("begun", ["from elsewhere", "for another plan"])
def test_a_batch_that_no_longer_fits_is_abandoned(session: Session, table: Path, begun: str) -> None:
    found = batch(table, 1 if begun == "from elsewhere" else 2, 2)
    if begun == "for another plan":
        found = Batch(found.view, found.number, found.ranges, "another plan")
    session.catalog.open_intent(VIEW.view_id, VIEW.name, found, Strategy.FULL, Reason.REQUESTED, committed=1)
    now = stood(table, 2)
    assert batches._finish(session, VIEW, now, found, None, None) is now
    assert not session.catalog.open_intents("s.v")


def test_a_table_that_was_copied_back_is_another_one(session: Session, table: Path, tmp_path: Path) -> None:
    shutil.copytree(table, tmp_path / "backup")
    append(table, 2)
    now = stood(table, 4)
    shutil.rmtree(table)
    shutil.copytree(tmp_path / "backup", table)
    for cut in (Cut(()), Cut(now.versions)):  # the latter of a run that began before, or as auxiliary views stand
        (found,) = next_batch(session, VIEW, now, cut).ranges
        assert (found.from_version, found.to_version, found.kind) == (-1, 2, CommitClass.REPLACED)
    assert not_before(session, found, now) == found  # there is no version 4 any more
    assert _Lag.of(session, "s.t", now).versions == 3
    append(table, 4)
    (found,) = next_batch(session, VIEW, now, Cut(())).ranges
    assert (found.from_version, found.to_version) == (4, 6)  # nothing tells any more


def test_a_view_is_not_taken_back_to_an_earlier_cut(session: Session, table: Path) -> None:
    now, earlier = stood(table, 2), stood(table, 1).versions
    (found,) = next_batch(session, VIEW, now, Cut(earlier)).ranges
    assert (found.from_version, found.to_version, found.empty) == (2, 2, True)
    (whole,) = next_batch(session, VIEW, None, Cut(earlier)).ranges
    assert not_before(session, whole, now).to_version == 2


@contextmanager
def lock_is_lost(session: Session, view: ViewRecord) -> Iterator[ViewRecord]:
    yield session.catalog.view(view.name)


@pytest.mark.spark
def test_a_batch_that_outlived_its_lock(spark, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its commit comes after another process gave it up and began the next: that one's rows are not those of before."""
    query = f"SELECT g, count(*) AS n, sum(v) AS total FROM {schema}.t GROUP BY g"
    run(spark, f"CREATE TABLE {schema}.t (g INT, v INT) USING DELTA {FEED}", f"INSERT INTO {schema}.t VALUES (1, 10)")
    place = {"spark": spark, "catalog": f"sqlite:///{tmp_path}/ivm.db", "warehouse": tmp_path / "w"}
    with Engine.open(**place) as slow, Engine.open(**place) as other:
        policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
        slow.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.v {policy} AS {query}")
        run(spark, f"INSERT INTO {schema}.t VALUES (1, 20), (2, 30)")
        execute = batches._execute

        def slowly(*arguments):
            def die(*_):
                raise RuntimeError("the process died")

            monkeypatch.setattr(batches, "_execute", die)
            run(spark, f"INSERT INTO {schema}.t VALUES (2, 40)")
            with pytest.raises(RuntimeError, match="died"):
                other.refresh(f"{schema}.v")
            return execute(*arguments)

        monkeypatch.setattr(batches, "locked", lock_is_lost)
        monkeypatch.setattr(batches, "_execute", slowly)
        (report,) = slow.maintain(raise_errors=False)
        assert "abandoned already" in (report.error or "")  # it has committed all the same
        monkeypatch.setattr(batches, "_execute", execute)
        assert other.catalog.open_intents(f"{schema}.v")
        (report,) = other.maintain()
        assert (report.strategy, report.error) == ("incremental", None)
        assert not difference(other.read(f"{schema}.v"), spark.sql(query))
        assert not other.catalog.open_intents(f"{schema}.v")
