"""A real Airflow at work: scheduler, API server, DAG processor, triggerer, LocalExecutor; started and stopped here.

One story, some minutes long: runs by cron, by a watched table, by another group's view, by REST, by `ivm trigger`, and a
backfill beside scheduled runs, that goes back in time too. Whatever ran, the views are what their queries give.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

from ivm_core import Engine
from ivm_core.cli import main
from ivm_core.engine.connect_server import start_connect_server
from ivm_core.engine.session import open_session
from ivm_core.settings import Settings
from tests.conftest import TEST_CONF
from tests.maintain.database import difference

from .conftest import ROOT

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.slow]

PROJECT = Path(__file__).parent / "live"
VIEWS = {
    "live.revenue": "SELECT country, count(*) AS orders, sum(amount) AS revenue FROM live.orders GROUP BY country",
    "live.large": "SELECT id, country, amount FROM live.orders WHERE amount > 50",
    "live.countries": "SELECT count(DISTINCT coalesce(country, '?')) AS countries, count(*) AS orders FROM live.orders",
}
DAGS = ("ivm_minutely", "ivm_eager", "ivm_above")
ENDED = {"success", "failed"}


class World:
    """A deployment on a warm Spark, and the Airflow that keeps its views."""

    def __init__(self, engine, spark, airflow, folder) -> None:
        self.engine, self.spark, self.airflow, self.folder = engine, spark, airflow, folder
        self.next_id = 0

    def change(self) -> None:
        """One commit that inserts, updates and deletes."""
        self.next_id += 10
        rows = ", ".join(f"({self.next_id + i}, '{'abc'[i % 3]}', {20 * i})" for i in range(5))
        self.spark.sql(
            f"""MERGE INTO live.orders AS t USING (
                SELECT id, country, CAST(amount AS DECIMAL(12, 2)) AS amount FROM VALUES {rows} AS new (id, country, amount)
                UNION ALL SELECT id, country, amount FROM live.orders WHERE id % 10 IN (1, 2)
            ) AS s ON t.id = s.id
            WHEN MATCHED AND t.id % 10 = 1 THEN DELETE
            WHEN MATCHED THEN UPDATE SET amount = t.amount + 1
            WHEN NOT MATCHED THEN INSERT *"""
        ).collect()

    def runs(self, dag_id: str) -> list[dict]:
        return self.airflow.ask("GET", f"dags/{dag_id}/dagRuns?limit=100&order_by=id")["dag_runs"]

    def wait(self, what, seconds: float = 240.0):
        """What ``what`` gives once it gives something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := what():
                return found
            time.sleep(1)
        raise AssertionError(
            f"{what.__doc__ or what} did not come: {json.dumps({d: self.runs(d) for d in DAGS})[:6000]}"
        )

    def wrong(self, *names: str) -> dict[str, list]:
        """The views that are not what their queries give, with the differing rows."""
        found = {name: difference(self.engine.read(name), self.spark.sql(VIEWS[name])) for name in names or VIEWS}
        return {name: rows for name, rows in found.items() if rows}

    def pause(self, paused: bool) -> None:
        self.airflow.ask("PATCH", "dags/ivm_minutely?update_mask=is_paused", {"is_paused": paused})

    def settle(self) -> None:
        """Wait until no run is under way."""
        self.wait(lambda: all(run["state"] in ENDED for dag in DAGS for run in self.runs(dag)), 300)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    from bench.local_airflow import start_airflow

    folder = tmp_path_factory.mktemp("live")
    with start_connect_server(
        warehouse=str(folder / "spark"),
        master="local[2]",
        driver_memory="1500m",
        log=folder / "server.log",
        conf={"spark.sql.shuffle.partitions": "2", **TEST_CONF},
    ) as url:
        (folder / "ivm.toml").write_text(
            'catalog = "sqlite:///ivm.db"\nwarehouse = "warehouse"\nmanifest = "manifest.json"\n'
            f'[spark]\nmaster = "{url}"\nshuffle_partitions = 2\n',
            "utf-8",
        )
        settings = Settings.load(folder / "ivm.toml")
        spark = open_session(settings)
        with Engine.open(spark=spark, settings=settings) as engine:
            engine.apply(PROJECT)
            host, _, port = url.removeprefix("sc://").partition(":")
            with start_airflow(
                folder / "airflow",
                settings=folder / "ivm.toml",
                manifest=folder / "manifest.json",
                connections={
                    "spark_default": {"conn_type": "spark_connect", "host": f"sc://{host}", "port": int(port)}
                },
                triggerer=True,
                more={
                    "AIRFLOW__IVM__ON_LATE": "tests.airflow.programs.late.note",
                    "IVM_TEST_LATE": str(folder / "late.jsonl"),
                    "PYTHONPATH": str(ROOT),
                },
            ) as airflow:
                for dag_id in DAGS:
                    airflow.await_dag(dag_id)
                yield World(engine, spark, airflow, folder)
        spark.stop()


def test_a_watched_table_starts_a_run(world):
    world.change()
    world.wait(lambda: not world.wrong("live.large"))
    [first, *_] = [run for run in world.runs("ivm_eager") if run["run_type"] == "asset_triggered"]
    assert first["logical_date"] is None


def test_a_schedule_starts_runs_with_true_intervals_and_they_tell_of_their_views(world):
    world.wait(lambda: not world.wrong("live.revenue"))
    run = next(run for run in world.runs("ivm_minutely") if run["run_type"] == "scheduled")
    start, end = (datetime.fromisoformat(run[f"data_interval_{side}"]) for side in ("start", "end"))
    assert end - start == timedelta(minutes=1)
    # The group above listens to the view, not to the table.
    world.wait(lambda: not world.wrong("live.countries"))
    [asset] = world.airflow.ask("GET", "assets?name_pattern=live.revenue")["assets"]
    assert asset["uri"] == "x-ivm://live/revenue"
    events = world.airflow.ask("GET", f"assets/events?asset_id={asset['id']}")["asset_events"]
    assert events and all(event["source_dag_id"] == "ivm_minutely" for event in events)
    assert events[-1]["extra"]["strategy"] == "incremental" and events[-1]["extra"]["rows_changed"] > 0
    assert "live.orders" in events[-1]["extra"]["to_versions"]
    assert all(run["run_type"] == "asset_triggered" for run in world.runs("ivm_above"))


def test_a_run_later_than_the_target_lag_is_told_of(world):
    world.wait((world.folder / "late.jsonl").exists, 120)
    told = json.loads((world.folder / "late.jsonl").read_text("utf-8").splitlines()[0])
    assert told == {"group": "minutely", "target_lag_seconds": 1.0}


def test_ivm_trigger_runs_a_group_and_waits(world, monkeypatch, capfd):
    monkeypatch.setenv("IVM_AIRFLOW__URL", world.airflow.url)
    world.change()
    command = ["trigger", "live.revenue", "--mode", "full", "--reason", "by hand", "--json"]
    capfd.readouterr()
    assert main([*command, "--settings", str(world.folder)]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert (answer["state"], answer["dag_id"]) == ("success", "ivm_minutely")
    assert answer["report"]["strategies"] == {"full": 1} and not world.wrong("live.revenue")
    [run] = [run for run in world.runs("ivm_minutely") if run["dag_run_id"] == answer["run_id"]]
    assert run["conf"]["reason"] == "by hand" and run["run_type"] == "manual"


def test_the_button_materialize_runs_the_group_of_a_view(world):
    world.change()
    [asset] = world.airflow.ask("GET", "assets?name_pattern=live.countries")["assets"]
    run = world.airflow.ask("POST", f"assets/{asset['id']}/materialize", {})
    assert run["dag_id"] == "ivm_above"
    state = world.wait(lambda: (s := world.airflow.run_state("ivm_above", run["dag_run_id"])) in ENDED and s)
    assert state == "success"


@pytest.mark.parametrize(
    "conf",
    [
        {"mode": "full'; DROP TABLE live.orders"},
        {"views": ["live.large"]},
        {"as_of": "now() OR 1=1"},
        {"mode": "rewind"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused_by_the_form_or_by_the_run(world, conf):
    try:
        run_id = f"bad-{abs(hash(str(conf)))}"
        world.airflow.trigger("ivm_minutely", run_id, conf)
    except HTTPError as error:
        assert error.code in (400, 422)
        return
    state = world.wait(lambda: (s := world.airflow.run_state("ivm_minutely", run_id)) in ENDED and s)
    tasks = world.airflow.task_states("ivm_minutely", run_id)
    assert (state, tasks["cut"], tasks["maintain"]) == ("failed", "failed", "upstream_failed")
    [cut] = [
        task
        for task in world.airflow.ask("GET", f"dags/ivm_minutely/dagRuns/{run_id}/taskInstances")["task_instances"]
        if task["task_id"] == "cut"
    ]
    assert cut["try_number"] == 1, "what cannot pass is not tried again"


def test_a_backfill_beside_scheduled_runs_after_an_outage(world):
    world.settle()
    world.pause(True)
    began = datetime.now(UTC)
    for _ in range(3):
        world.change()
        time.sleep(40)
    made = backfill(world, began, {"reason": "after the outage"}, max_active_runs=10)
    finished(world, made["id"])
    world.wait(lambda: not world.wrong("live.revenue"))
    assert {run["state"] for run in world.runs("ivm_minutely") if run["run_type"] == "backfill"} == {"success"}


def test_a_backfill_goes_back_in_time_and_replays(world):
    world.settle()
    world.pause(True)
    began = datetime.now(UTC) - timedelta(minutes=3)
    made = backfill(world, began, {"mode": "rewind"}, max_active_runs=1, reprocess_behavior="completed")
    finished(world, made["id"])
    world.wait(lambda: not world.wrong("live.revenue"))
    batches = world.engine.history("live.revenue", 100)
    went_back = [batch for batch in batches if batch.strategy == "rewind"]
    assert went_back and all(batch.reason == "rewound" for batch in went_back)
    numbers = [batch.number for batch in batches if batch.succeeded and batch.number]
    assert len(numbers) == len(set(numbers))


def test_nothing_was_refreshed_in_full_unasked_and_everything_is_right(world):
    world.settle()
    world.wait(lambda: not world.wrong())
    for name in VIEWS:
        reasons = {batch.reason for batch in world.engine.history(name, 200) if batch.strategy == "full"}
        assert reasons <= {"first_build", "requested"}
        assert world.engine.validate(name).ok


def test_dags_keep_one_version_and_no_import_failed(world):
    assert world.airflow.ask("GET", "importErrors")["import_errors"] == []
    for dag_id in DAGS:
        assert len(world.airflow.ask("GET", f"dags/{quote(dag_id)}/dagVersions")["dag_versions"]) == 1


def backfill(world, began: datetime, conf: dict, **more) -> dict:
    """Start a backfill from the minute in which something began until now, and let the DAG's runs go on.

    It is made while the DAG is paused: on SQLite, which has no row locks, a scheduler that meets half-made runs may end.
    """
    body = {
        "dag_id": "ivm_minutely",
        "from_date": began.replace(second=0, microsecond=0).isoformat(),
        "to_date": datetime.now(UTC).isoformat(),
        "dag_run_conf": conf,
        "run_backwards": False,
        **more,
    }
    made = world.wait(lambda: answered(lambda: world.airflow.ask("POST", "backfills", body)), 30)
    world.pause(False)
    return made


def answered(ask):
    """The answer, None where Airflow's database was locked."""
    try:
        return ask()
    except HTTPError as error:
        if error.code != 503:
            raise
        return None


def finished(world, backfill_id: int) -> None:
    """Wait for the end of a backfill."""
    world.wait(lambda: world.airflow.ask("GET", f"backfills/{backfill_id}")["completed_at"], 600)
