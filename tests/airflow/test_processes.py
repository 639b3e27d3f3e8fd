"""A real Airflow at work: scheduler, API server, DAG processor, triggerer, LocalExecutor.

One story, some minutes long: runs by cron, by a watched table, by another group's view, by REST, by `ivm trigger`, and a
backfill beside scheduled runs, that goes back in time too. Whatever ran, the views are what their queries give.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

from ivm_core.cli import main
from tests.postgres import postgres  # noqa: F401

from .live_world import DAGS, ENDED, VIEWS, live_world

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def world(request, tmp_path_factory):
    """The whole story twice: with Airflow's database and the catalogue on SQLite, and on PostgreSQL."""
    server = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    with live_world(tmp_path_factory.mktemp("live"), server) as running:
        yield running


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


def test_a_cleared_run_runs_again_and_takes_nothing_back(world):
    world.settle()
    old = next(run for run in world.runs("ivm_minutely") if run["state"] == "success")["dag_run_id"]
    world.change()
    world.wait(lambda: not world.wrong("live.revenue"))
    before = world.engine.history("live.revenue", 1)[0].to_versions
    body = {"dry_run": False, "only_failed": False, "reset_dag_runs": True, "dag_run_id": old}
    cleared = world.airflow.ask("POST", "dags/ivm_minutely/clearTaskInstances", body)["task_instances"]
    assert {task["task_id"] for task in cleared} >= {"cut", "maintain", "report"}
    assert world.wait(lambda: (s := world.airflow.run_state("ivm_minutely", old)) in ENDED and s) == "success"
    # It keeps the cut that it fixed first, which is behind where the view stands now.
    assert all(v >= before[t] for t, v in world.engine.history("live.revenue", 1)[0].to_versions.items())
    assert not world.wrong("live.revenue")


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
    made = world.wait(lambda: made_backfill(world, body), 120)
    world.pause(False)
    return made


def made_backfill(world, body: dict) -> dict | None:
    """The new backfill, None where Airflow's database was locked; what was made by half then is taken back."""
    try:
        return world.airflow.ask("POST", "backfills", body)
    except HTTPError as error:
        if error.code not in (409, 503):
            raise
    for half in world.airflow.ask("GET", f"backfills?dag_id={body['dag_id']}")["backfills"]:
        if half["completed_at"] is None:
            world.airflow.ask("PUT", f"backfills/{half['id']}/cancel")
    return None


def finished(world, backfill_id: int) -> None:
    """Wait for the end of a backfill."""
    world.wait(lambda: world.airflow.ask("GET", f"backfills/{backfill_id}")["completed_at"], 600)
