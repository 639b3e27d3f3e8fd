"""A process that is killed at any step of a batch: the next run leaves every view right, nothing lost, nothing twice."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ivm_core import Engine
from ivm_core.engine.connect_server import start_connect_server
from ivm_core.engine.session import open_session
from ivm_core.settings import Settings
from tests.bags import difference
from tests.conftest import TEST_CONF
from tests.maintain.database import create_views

pytestmark = pytest.mark.spark

PROGRAM = Path(__file__).parent / "programs" / "maintain_and_die.py"
VIEWS = {
    "bag": "SELECT id, v FROM crash.t WHERE v > 1",
    "groups": "SELECT g, count(*) AS n, sum(v) AS s FROM crash.t GROUP BY g",
    "extremes": "SELECT g, max(v) AS hi FROM crash.t GROUP BY g",
    "affected": "SELECT g, count(DISTINCT v) AS n FROM crash.t GROUP BY g",
    "above": "SELECT n, count(*) AS groups FROM crash.groups GROUP BY n",
    "divided": "WITH sums AS MATERIALIZED (SELECT g, sum(v) AS s FROM crash.t GROUP BY g) "
    "SELECT t.id, sums.s FROM crash.t JOIN sums ON sums.g = t.g WHERE sums.s > (SELECT min(s) FROM sums)",
}
# Every boundary of the protocol, and how many of its calls go well before: so that different views are caught.
POINTS = (
    ("before:ivm_core.catalog.catalog.Catalog.add_cut", 0),
    ("after:ivm_core.catalog.catalog.Catalog.add_cut", 0),
    ("before:ivm_core.catalog.catalog.Catalog.open_intent", 0),
    ("after:ivm_core.catalog.catalog.Catalog.open_intent", 0),
    ("after:ivm_core.catalog.catalog.Catalog.open_intent", 3),
    ("after:ivm_core.engine.execute.bind_changes", 1),
    ("before:ivm_core.engine.execute.write", 0),
    ("before:ivm_core.engine.execute.write", 2),
    ("after:ivm_core.engine.execute.write", 0),
    ("after:ivm_core.engine.execute.write", 1),
    ("after:ivm_core.engine.execute.write", 4),
    ("before:ivm_core.catalog.catalog.Catalog.add_batch", 0),
    ("before:ivm_core.catalog.catalog.Catalog.add_batch", 3),
    ("after:ivm_core.catalog.catalog.Catalog.add_batch", 1),
    ("before:ivm_core.catalog.catalog.Catalog.publish_cut", 0),
    ("after:ivm_core.catalog.catalog.Catalog.publish_cut", 0),
)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    """A Connect server that outlives its killed clients, as a warm server does, and an engine connected to it."""
    root = tmp_path_factory.mktemp("crash")
    with start_connect_server(
        warehouse=str(root / "spark"),
        master="local[2]",
        driver_memory="1500m",
        log=root / "server.log",
        conf={"spark.sql.shuffle.partitions": "2", **TEST_CONF},
    ) as url:
        settings = Settings.load(catalog=f"sqlite:///{root}/ivm.db", warehouse=str(root / "w"), spark={"master": url})
        spark = open_session(settings)
        spark.sql("CREATE SCHEMA crash").collect()
        spark.sql(
            "CREATE TABLE crash.t (id int, g string, v int) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
        ).collect()
        spark.sql("INSERT INTO crash.t VALUES (1, 'a', 1), (2, 'a', 5), (3, 'b', 2), (4, NULL, 7)").collect()
        with Engine.open(spark=spark, settings=settings) as engine:
            create_views(engine, "crash", VIEWS)
            yield engine, settings
        spark.stop()


def change(spark, number: int) -> None:
    """Insert two rows, update a third of the others and delete one, in one commit."""
    spark.sql(
        f"""MERGE INTO crash.t USING (
            SELECT * FROM VALUES ({number * 10}, 'c', {number % 5}), ({number * 10 + 1}, 'a', {number}) AS new (id, g, v)
            UNION ALL SELECT id, g, v FROM crash.t WHERE id % 3 = {number % 3} OR id = {(number - 1) * 10}
        ) AS s ON t.id = s.id
        WHEN MATCHED AND t.id = {(number - 1) * 10} THEN DELETE
        WHEN MATCHED THEN UPDATE SET v = t.v + 1
        WHEN NOT MATCHED THEN INSERT *"""
    ).collect()


def run_and_die(settings: Settings, point: str, skip: int, master: str | None = None, rewind_to: str = "") -> None:
    arguments = [master or settings.spark.master, settings.catalog, settings.warehouse, point, str(skip), rewind_to]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert "dying" in done.stdout, f"the program did not get to {point}: {done.stdout}{done.stderr[-2000:]}"


def check_everything(engine: Engine) -> None:
    reports = engine.maintain()
    assert all(report.strategy != "full" for report in reports)
    for name, query in VIEWS.items():
        assert not difference(engine.read(f"crash.{name}"), engine.spark.sql(query.replace(" MATERIALIZED", ""))), name
        done = [record.number for record in engine.history(f"crash.{name}") if record.error is None and record.number]
        assert len(done) == len(set(done)), f"{name}: a batch was applied twice: {done}"
    assert {report.strategy for report in engine.maintain()} == {"noop"}


# The ordinary run takes every second point: with the tests below a process is killed more than ten times.
ORDINARY = [
    point if number % 2 else pytest.param(*point, marks=pytest.mark.slow) for number, point in enumerate(POINTS)
]


@pytest.mark.parametrize(("point", "skip"), ORDINARY, ids=lambda value: str(value).rpartition("ivm_core.")[2])
def test_a_killed_batch_is_finished_by_the_next_run(deployment, point, skip):
    engine, settings = deployment
    change(engine.spark, POINTS.index((point, skip)) + 1)
    run_and_die(settings, point, skip)
    check_everything(engine)


def test_a_killed_driver_with_its_own_jvm(deployment):
    engine, settings = deployment
    change(engine.spark, 40)
    run_and_die(settings, "after:ivm_core.engine.execute.write", 1, master="local[2]")
    check_everything(engine)


def test_a_run_killed_twice_in_a_row_with_changes_in_between(deployment):
    engine, settings = deployment
    change(engine.spark, 50)
    run_and_die(settings, "after:ivm_core.catalog.catalog.Catalog.open_intent", 0)
    change(engine.spark, 51)
    run_and_die(settings, "after:ivm_core.engine.execute.write", 0)
    change(engine.spark, 52)
    check_everything(engine)


# Of a run that takes the views back first: every boundary between the intent to go back and the replay.
REWIND_POINTS = (
    ("after:ivm_core.catalog.catalog.Catalog.open_intent", 0),
    ("before:ivm_core.maintain.rewind.restore", 2),
    ("after:ivm_core.maintain.rewind.restore", 0),
    ("after:ivm_core.maintain.rewind.restore", 4),
    ("after:ivm_core.engine.execute.write", 1),
)


# Before and after the commit in the ordinary run: each journey takes a process and three runs.
REWIND_ORDINARY = [
    point if number in (1, 3) else pytest.param(*point, marks=pytest.mark.slow)
    for number, point in enumerate(REWIND_POINTS)
]


@pytest.mark.parametrize(("point", "skip"), REWIND_ORDINARY, ids=lambda value: str(value).rpartition("ivm_core.")[2])
def test_a_killed_journey_back_is_finished_by_the_next_run(deployment, point, skip):
    engine, settings = deployment
    number = 60 + 2 * REWIND_POINTS.index((point, skip))
    change(engine.spark, number)
    engine.maintain()
    then = datetime.now(UTC)
    change(engine.spark, number + 1)
    engine.maintain()
    before = {name: len(engine.history(f"crash.{name}", 1000)) for name in VIEWS}
    run_and_die(settings, point, skip, rewind_to=then.isoformat())
    check_everything(engine)
    assert any(
        record.strategy == "rewind"
        for name in VIEWS
        for record in engine.history(f"crash.{name}", len(engine.history(f"crash.{name}", 1000)) - before[name])
    )
