"""The DAG file: no import errors, one DAG a group, the same whenever and wherever it is parsed, nothing heavy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import ROOT, airflow_environment, run_program, write_manifest

pytestmark = pytest.mark.airflow

READS = {
    "views": [{"name": "s.v", "tables": ["shop.orders"], "on_update": True}, {"name": "s.w", "tables": ["shop.days"]}]
}
WATCHED = {"watch_every_seconds": 30.0, "watched": {"shop.orders": "/lake/orders"}}
TIMED = [
    {"name": "by_cron", "schedule": "0 * * * *", "target_lag_seconds": 1800.0, **READS},
    {"name": "by_assets", "on_update": True, **READS},
    {"name": "by_both", "schedule": "@daily", "on_update": True, **READS},
    {"name": "watched", "on_update": True, **WATCHED, **READS},
    {"name": "on_demand", **READS},
]
ODD_NAMES = ("Größe & Gewicht", "../x", "a b", "a-b")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("parse")
    write_manifest(folder / "many.json", groups=20, views=10)
    write_manifest(folder / "few.json", groups=3, views=2)
    (folder / "broken.json").write_text('{"version": 1, "groups": [{}]}', "utf-8")
    odd = [{"name": name, "views": [{"name": "s.v"}]} for name in ODD_NAMES]
    (folder / "timed.json").write_text(json.dumps({"version": 1, "groups": TIMED}), "utf-8")
    (folder / "odd.json").write_text(json.dumps({"version": 1, "groups": odd}), "utf-8")
    return folder


def parse(folder, *names, **extra):
    environment = {**airflow_environment(folder), **extra}
    answers = run_program("parse", *(folder / f"{name}.json" for name in names), environment=environment)
    return dict(zip(names, answers, strict=True))


@pytest.fixture(scope="module")
def parsed(folder):
    return parse(folder, "many", "few", "broken", "odd", "none", "timed", PYTHONHASHSEED="1")


def test_one_dag_a_group_with_the_four_tasks(parsed):
    found = parsed["few"]
    assert found["errors"] == {}
    assert sorted(found["dags"]) == ["ivm_group_000", "ivm_group_001", "ivm_group_002"]
    dag = found["dags"]["ivm_group_000"]
    tasks = {task["__var"]["task_id"]: task["__var"] for task in dag["tasks"]}
    assert tasks["cut"]["downstream_task_ids"] == ["maintain"]
    assert tasks["maintain"]["downstream_task_ids"] == ["validate"]
    assert tasks["validate"]["downstream_task_ids"] == ["report"]
    assert tasks["maintain"]["max_active_tis_per_dag"] == 1
    assert "CronDataIntervalTimetable" in json.dumps(dag["timetable"])
    assert "Null" in json.dumps(found["dags"]["ivm_group_001"]["timetable"])


@pytest.mark.parametrize(
    ("group", "kind", "by_assets"),
    [
        ("by_cron", "CronDataIntervalTimetable", False),
        ("by_assets", "AssetTriggeredTimetable", True),
        ("by_both", "AssetOrTimeSchedule", True),
        ("watched", "AssetTriggeredTimetable", True),
        ("on_demand", "NullTimetable", False),
    ],
)
def test_runs_start_by_cron_by_assets_by_both_or_on_demand(parsed, group, kind, by_assets):
    assert parsed["timed"]["errors"] == {}
    timetable = json.dumps(parsed["timed"]["dags"][f"ivm_{group}"]["timetable"])
    assert kind in timetable
    assert ("x-ivm://shop/orders" in timetable) == by_assets
    assert "x-ivm://shop/days" not in timetable, "no view that reads it asks to be run on its updates"
    assert ("DeltaLogTrigger" in timetable) == (group == "watched")
    assert ("CronDataIntervalTimetable" in timetable) == (group in ("by_cron", "by_both"))


def test_a_target_lag_is_a_deadline(parsed):
    dags = parsed["timed"]["dags"]
    assert "ivm_airflow.telling.tell_late" in json.dumps(dags["ivm_by_cron"]["deadline"])
    assert not dags["ivm_on_demand"].get("deadline")


def test_views_are_outlets_and_what_they_read_are_inlets(parsed):
    dag = parsed["timed"]["dags"]["ivm_on_demand"]
    [validate] = [task["__var"] for task in dag["tasks"] if task["__var"]["task_id"] == "validate"]
    named = {side: sorted(asset["uri"] for asset in map(content, validate[side])) for side in ("inlets", "outlets")}
    assert named == {"inlets": ["x-ivm://shop/days", "x-ivm://shop/orders"], "outlets": ["x-ivm://s/v", "x-ivm://s/w"]}


def content(value):
    return value.get("__var", value)


def test_two_hundred_views_load_nothing_heavy(parsed):
    assert parsed["many"]["errors"] == {}
    assert parsed["many"]["cpu_seconds"] < 1.0
    assert len(parsed["many"]["dags"]) == 20
    assert parsed["many"]["heavy"] == []


def test_the_same_dags_in_any_process(parsed, folder):
    again = parse(folder, "few", "timed", PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    for name in again:
        assert json.dumps(parsed[name]["dags"], sort_keys=True) == json.dumps(again[name]["dags"], sort_keys=True)


def test_computing_tasks_are_submitted_where_airflow_s_configuration_says_so(parsed, folder):
    submitting = {"AIRFLOW__IVM__SUBMIT": "True"}
    one, two = (parse(folder, "few", **submitting, PYTHONHASHSEED=seed)["few"] for seed in "12")
    assert one["errors"] == {} and one["heavy"] == []
    assert json.dumps(one["dags"], sort_keys=True) == json.dumps(two["dags"], sort_keys=True)
    kinds = {
        task["__var"]["task_id"]: (task["__var"]["task_type"], task["__var"]["downstream_task_ids"])
        for task in one["dags"]["ivm_group_000"]["tasks"]
        if "downstream_task_ids" in task["__var"]
    }
    assert kinds["maintain"] == ("SubmittedTask", ["validate"]) and kinds["validate"] == ("SubmittedTask", ["report"])
    named = json.dumps(parsed["few"]["dags"])
    assert "SubmittedTask" not in named and "_link_ReportLink" in named and "_link_DataDocsLink" in named


def test_without_a_manifest_there_is_no_dag_and_no_error(parsed):
    assert (parsed["none"]["errors"], parsed["none"]["dags"]) == ({}, {})


def test_a_broken_manifest_is_an_import_error_that_says_how_to_mend_it(parsed):
    assert parsed["broken"]["dags"] == {}
    assert "Run `ivm apply` to write it again" in parsed["broken"]["errors"]["ivm_groups.py"]


def test_a_group_of_any_name_has_a_dag(parsed):
    assert parsed["odd"]["errors"] == {}
    assert len(parsed["odd"]["dags"]) == len(ODD_NAMES)


def test_a_task_process_builds_its_own_dag_only(folder):
    found = parse(folder, "few", _AIRFLOW_PARSING_CONTEXT_DAG_ID="ivm_group_001")
    assert list(found["few"]["dags"]) == ["ivm_group_001"]


def test_the_dag_file_is_short():
    assert len((ROOT / "dags" / "ivm_groups.py").read_text("utf-8").splitlines()) < 60
