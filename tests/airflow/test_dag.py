"""The DAG file: no import errors, one DAG a group, the same whenever and wherever it is parsed, nothing heavy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import ROOT, run_program

pytestmark = pytest.mark.airflow


def parse(environment, manifest, **extra):
    return run_program("parse", environment={**environment, "IVM_MANIFEST": str(manifest), **extra})


def test_one_dag_a_group_with_the_four_tasks(airflow, manifest):
    found = parse(airflow, manifest(3, 2))
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


def test_two_hundred_views_load_nothing_heavy(airflow, manifest):
    found = parse(airflow, manifest(20, 10))
    assert found["errors"] == {}
    assert len(found["dags"]) == 20
    assert found["heavy"] == []


def test_the_same_dags_in_any_process(airflow, manifest):
    path = manifest(3, 5)
    first = parse(airflow, path, PYTHONHASHSEED="1")
    second = parse(airflow, path, PYTHONHASHSEED="2", TZ="Asia/Tokyo")
    assert json.dumps(first["dags"], sort_keys=True) == json.dumps(second["dags"], sort_keys=True)


def test_without_a_manifest_there_is_no_dag_and_no_error(airflow, tmp_path):
    assert parse(airflow, tmp_path / "none.json") == {"errors": {}, "dags": {}, "heavy": []}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 2, "groups": []}', '{"version": 1, "groups": [{}]}'])
def test_a_broken_manifest_says_how_to_mend_it(airflow, tmp_path, text):
    path = tmp_path / "manifest.json"
    path.write_text(text, "utf-8")
    found = parse(airflow, path)
    assert found["dags"] == {}
    assert "Run `ivm apply` to write it again" in found["errors"]["ivm_groups.py"]


def test_a_task_process_builds_its_own_dag_only(airflow, manifest):
    found = parse(airflow, manifest(3, 2), _AIRFLOW_PARSING_CONTEXT_DAG_ID="ivm_group_001")
    assert list(found["dags"]) == ["ivm_group_001"]


def test_a_group_of_any_name_has_a_dag(airflow, tmp_path):
    path = tmp_path / "manifest.json"
    view = {"name": "s.v"}
    groups = [{"name": name, "views": [view]} for name in ("Größe & Gewicht", "../x", "a b", "a-b")]
    path.write_text(json.dumps({"version": 1, "groups": groups}), "utf-8")
    found = parse(airflow, path)
    assert found["errors"] == {}
    assert len(found["dags"]) == 4


def test_the_dag_file_is_short():
    assert len((ROOT / "dags" / "ivm_groups.py").read_text("utf-8").splitlines()) < 60


def test_the_manifest_is_found_through_the_settings(airflow, manifest, tmp_path):
    path = manifest(1, 1)
    folder = tmp_path / "deployment"
    folder.mkdir()
    (folder / "ivm.toml").write_text(f'manifest = "{Path("..") / path.name}"\n', "utf-8")
    found = run_program("parse", environment={**airflow, "IVM_SETTINGS": str(folder / "ivm.toml")})
    assert list(found["dags"]) == ["ivm_group_000"]
