"""The computing tasks as applications of their own: SparkSubmitOperator on `local[2]`, as the connection or the settings say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from ivm_airflow.failures import Concurrent, PartlyFailed, Permanent
from ivm_airflow.handed import READ, pack_context, pack_failure, unpack_context, unpack_failure

from tests.conftest import TEST_CONF

from .conftest import ROOT, run_program
from .test_runs import ALL_DONE, SETTINGS, by_view

pytestmark = pytest.mark.airflow


@pytest.fixture(scope="module")
def story(airflow_database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("submitted")
    conf = "\n".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in TEST_CONF.items())
    (folder / "ivm.toml").write_text(SETTINGS + conf, "utf-8")
    # No connection: the settings file says where Spark is, not the provider, which would take YARN.
    environment = {**airflow_database, "IVM_SETTINGS": str(folder / "ivm.toml"), "AIRFLOW__IVM__SUBMIT": "True"}
    return run_program("submitted_runs", environment=environment, timeout=900)


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_computes_in_submitted_programs(story):
    for task in ("maintain", "validate"):
        assert {"SubmittedTask", "SparkSubmitOperator"} <= set(story["types"][task])
    assert (story["first"]["state"], story["first"]["tasks"]) == ("success", ALL_DONE)
    views = by_view(story["first"]["report"])
    assert all(view["strategy"] in {"incremental", "affected", "full"} for view in views.values())
    assert views["shop.revenue"]["validated"] is True and "index.html" in story["first"]["report"]["data_docs"]
    assert story["wrong"] == []


@pytest.mark.spark
@pytest.mark.slow
def test_what_fails_there_fails_the_task_as_it_would_here(story):
    partly = story["partly_failed"]
    assert partly["tasks"] == {"cut": "success", "maintain": "failed", "validate": "success", "report": "failed"}
    assert partly["report"]["failed"] == ["shop.revenue", "shop.rich"]


@pytest.mark.spark
@pytest.mark.slow
def test_spark_connect_is_refused_for_it_has_no_use_for_spark_submit(story):
    assert story["connect"]["tasks"]["maintain"] == "failed"
    assert story["connect"]["report"]["unfinished"] == ["maintain"]


def test_the_program_does_not_import_airflow():
    """In the environment of a task that fails: Airflow hides its database there."""
    program = "import sys; import ivm_airflow.submitted, ivm_airflow.handed, ivm_airflow.tasks; print('airflow' in sys.modules)"
    hidden = {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "airflow-db-not-allowed:///", "PYTHONPATH": str(ROOT / "plugins")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=os.environ | hidden, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Earlier:
    """Airflow's task instance with what the tasks before left."""

    left = {("cut", "return_value"): {"as_of": None}, ("maintain", "reports"): None}  # noqa: RUF012

    def xcom_pull(self, task_ids, key="return_value"):
        return self.left[task_ids, key]


def test_a_context_is_handed_over_whole():
    now = datetime(2026, 11, 22, 10, tzinfo=UTC)
    run = SimpleNamespace(run_type=SimpleNamespace(value="scheduled"), run_after=now, clear_number=2)
    context = {"params": {"views": ["a.b"]}, "run_id": "r", "dag_run": run, "ti": Earlier(), "data_interval_end": now}
    there = unpack_context(json.loads(json.dumps(pack_context(context))))
    assert (there["params"], there["run_id"], there["data_interval_end"]) == ({"views": ["a.b"]}, "r", now)
    assert "data_interval_start" not in there
    found = there["dag_run"]
    assert (found.run_type, found.run_after, found.clear_number) == ("scheduled", now, 2)
    assert {(task, key): there["ti"].xcom_pull(task, key) for task, key in READ} == Earlier.left
    there["ti"].xcom_push(key="checks", value=[1])
    assert there["ti"].pushed == {"checks": [1]}


@pytest.mark.parametrize("error", [Concurrent("a"), PartlyFailed("b"), Permanent("c")], ids=repr)
def test_failures_come_back_as_they_were(error):
    back = unpack_failure(json.loads(json.dumps(pack_failure(error))))
    assert (type(back), str(back)) == (type(error), str(error))
