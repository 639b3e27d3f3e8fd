"""Real runs of the DAG over real Delta tables, in Airflow's own runner."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import TEST_CONF

from .conftest import run_program

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

SETTINGS = """
catalog = "sqlite:///.ivm/catalog.db"

[spark]
master = "local[2]"
driver_memory = "1g"
shuffle_partitions = 2

[spark.conf]
"""
EMBEDDED = {"conn_type": "spark", "host": "local[2]", "extra": {"spark.sql.session.timeZone": "UTC"}}
ALL_DONE = {"cut": "success", "maintain": "success", "validate": "success", "report": "success"}


@pytest.fixture(scope="module")
def story(airflow_database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("deployment")
    conf = "\n".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in TEST_CONF.items())
    (folder / "ivm.toml").write_text(SETTINGS + conf, "utf-8")
    environment = {
        **airflow_database,
        "IVM_SETTINGS": str(folder / "ivm.toml"),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(EMBEDDED),
        "AIRFLOW__IVM__ON_FAILURE": "tests.airflow.programs.late.note",
        "IVM_TEST_LATE": str(folder / "failed.jsonl"),
    }
    told = run_program("group_runs", folder, environment=environment, timeout=1200)
    lines = (folder / "failed.jsonl").read_text("utf-8").splitlines()
    return {**told, "failures": [json.loads(line) for line in lines]}


def by_view(report):
    return {view["view"]: view for view in report["views"]}


def test_a_run_maintains_validates_what_is_due_and_reports(story):
    first = story["first"]
    assert (first["state"], first["tasks"]) == ("success", ALL_DONE)
    views = by_view(first["report"])
    assert set(views) == {"shop.countries", "shop.revenue", "shop.rich"}
    assert all(view["strategy"] in {"incremental", "affected", "full"} for view in views.values())
    assert {name: view["validated"] for name, view in views.items()} == {
        "shop.countries": None,
        "shop.revenue": True,
        "shop.rich": None,
    }
    assert first["report"]["ok"] and "index.html" in first["report"]["data_docs"]


def test_a_second_run_skips(story):
    assert set(story["second"]["tasks"].values()) == {"skipped"}
    assert story["second"]["state"] == "success"


def test_a_run_for_one_view_leaves_the_others(story):
    assert [view["view"] for view in story["one_view"]["report"]["views"]] == ["shop.countries"]
    assert story["one_view"]["report"]["reason"] == "only this one"


def test_everything_is_validated_and_timed_when_asked(story):
    views = by_view(story["measured"]["report"])
    assert all(view["validated"] is True for view in views.values())
    assert all(view["full_seconds"] > 0 for view in views.values())
    assert views["shop.revenue"]["rows_changed"] > 0 and views["shop.revenue"]["strategy"] == "incremental"
    assert views["shop.countries"]["strategy"] == "noop"


def test_a_full_refresh_when_asked(story):
    [view] = story["full"]["report"]["views"]
    assert (view["view"], view["strategy"], view["reason"]) == ("shop.countries", "full", "requested")


@pytest.mark.parametrize("name", ["unknown_view", "unknown_mode", "bad_instant", "unknown_key"])
def test_wrong_parameters_do_nothing(story, name):
    refused = story[name]
    if "refused" not in refused:
        assert refused["state"] == "failed"
        assert refused["tasks"]["cut"] == "failed" and refused["tasks"]["maintain"] == "upstream_failed"
    assert story["before"] == story["after"]


def test_a_failed_view_fails_its_dependants_only(story):
    """A base table was created anew: a view that may only be incremental cannot follow, and nobody tries again."""
    partly = story["partly_failed"]
    assert partly["state"] == "failed"
    views = by_view(partly["report"])
    assert partly["report"]["failed"] == ["shop.revenue", "shop.rich"]
    assert views["shop.countries"]["error"] is None and views["shop.countries"]["rows_changed"] > 0
    assert partly["tasks"] == {"cut": "success", "maintain": "failed", "validate": "success", "report": "failed"}


def test_somebody_is_told_of_each_task_that_failed_for_good(story):
    assert {told["dag_id"] for told in story["failures"]} == {"ivm_shop"}
    [maintain] = [told for told in story["failures"] if told["task_id"] == "maintain"]
    assert "2 of 3 views failed" in maintain["error"] and "shop.revenue" in maintain["error"]
    assert {told["task_id"] for told in story["failures"]} >= {"cut", "maintain", "report"}


def test_tasks_hand_on_little(story):
    for run in (story["first"], story["measured"]):
        assert all(len(json.dumps(value)) < 4096 for value in run["xcoms"].values())
        assert re.fullmatch(r"[a-z0-9_-]+\.json", run["xcoms"]["report.return_value"]["json"].rpartition("/")[2])
