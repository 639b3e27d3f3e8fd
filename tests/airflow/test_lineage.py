"""What OpenLineage's provider tells of real runs: each view that changed, with the columns that its columns come from."""

from __future__ import annotations

import json
from importlib.metadata import distributions
from types import SimpleNamespace

import pytest
from ivm_airflow import lineage
from ivm_airflow.lineage import dataset_name, remember_lineage

from tests.conftest import TEST_CONF

from .conftest import run_program
from .test_runs import ALL_DONE, EMBEDDED, SETTINGS

pytestmark = pytest.mark.airflow
# Asked of the metadata: looking the module up would import Airflow, which makes itself a home.
INSTALLED = any(found.name == lineage.PROVIDER for found in distributions())
with_provider = pytest.mark.skipif(
    not INSTALLED, reason="OpenLineage's provider is not installed (uv sync --all-extras)"
)


@pytest.fixture(scope="module", params=["in the task", "in a submitted program"])
def story(request, airflow_database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lineage")
    conf = "\n".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in TEST_CONF.items())
    (folder / "ivm.toml").write_text(SETTINGS + conf, "utf-8")
    events = folder / "events.jsonl"
    environment = {
        **airflow_database,
        "IVM_SETTINGS": str(folder / "ivm.toml"),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(EMBEDDED),
        "AIRFLOW__IVM__SUBMIT": str(request.param != "in the task"),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "tests",
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps({"type": "file", "log_file_path": str(events), "append": True}),
    }
    told = run_program("lineage_runs", environment=environment, timeout=900)
    told["events"] = [json.loads(line) for line in events.read_text("utf-8").splitlines()]
    return told


def completed(story, number: int, task: str = "maintain") -> dict:
    """The event of the end of a task in a run, counted from the first in which it was not skipped."""
    name = f"ivm_shop.{task}"
    return [e for e in story["events"] if e["job"]["name"] == name and e["eventType"] == "COMPLETE"][number]


@pytest.mark.spark
@pytest.mark.slow
@with_provider
def test_a_run_tells_of_its_views_and_their_columns(story):
    assert (story["first"]["state"], story["first"]["tasks"]) == ("success", ALL_DONE)
    event = completed(story, 0)
    named = {name: dataset_name(place) for name, place in story["places"].items()}
    assert {(d["namespace"], d["name"]) for d in event["outputs"]} == {
        named[name] for name in ("shop.countries", "shop.revenue", "shop.rich")
    }
    assert {(d["namespace"], d["name"]) for d in event["inputs"]} == {
        named[name] for name in ("shop.customers", "shop.orders", "shop.revenue")
    }
    revenue = next(d for d in event["outputs"] if d["name"] == named["shop.revenue"][1])
    found = revenue["facets"]["columnLineage"]
    assert {name: inputs(field["inputFields"], named) for name, field in found["fields"].items()} == {
        "country": {("shop.customers", "country", "DIRECT", "IDENTITY")},
        "orders": set(),
        "revenue": {("shop.orders", "amount", "DIRECT", "AGGREGATION")},
    }
    assert inputs(found["dataset"], named) == {
        ("shop.customers", "id", "INDIRECT", "JOIN"),
        ("shop.orders", "customer_id", "INDIRECT", "JOIN"),
        ("shop.customers", "country", "INDIRECT", "GROUP_BY"),
    }
    assert {field["name"] for field in revenue["facets"]["schema"]["fields"]} == {"country", "orders", "revenue"}
    assert revenue["facets"]["symlinks"]["identifiers"][0]["name"] == "shop.revenue"
    assert revenue["facets"]["documentation"]["description"] == "Revenue by country"
    assert revenue["outputFacets"]["outputStatistics"]["rowCount"] == 3
    orders = next(d for d in event["inputs"] if d["name"] == named["shop.orders"][1])
    assert orders["facets"]["version"]["datasetVersion"].isdigit()


@pytest.mark.spark
@pytest.mark.slow
@with_provider
def test_of_views_that_did_not_change_nothing_is_told(story):
    assert set(story["second"]["tasks"].values()) == {"skipped"}
    names = {d["facets"]["symlinks"]["identifiers"][0]["name"] for d in completed(story, 1)["outputs"]}
    assert "shop.countries" in names and "shop.rich" not in names
    assert not completed(story, 0, "validate").get("outputs")


def test_nothing_is_computed_where_nobody_asks(monkeypatch):
    monkeypatch.setattr(lineage, "is_wanted", lambda: False)
    remember_lineage(None, None, [{"view": "a.b", "error": None, "strategy": "full"}])


def test_what_goes_wrong_with_it_fails_no_task(monkeypatch, caplog):
    monkeypatch.setattr(lineage, "is_wanted", lambda: True)
    ti = SimpleNamespace(task=SimpleNamespace())
    remember_lineage(None, ti, [{"view": "a.b", "error": None, "strategy": "full"}])
    assert not hasattr(ti.task, "told") and "a.b" in caplog.text


def inputs(fields: list[dict], named: dict) -> set[tuple[str, str, str, str]]:
    tables = {place: name for name, place in named.items()}
    return {
        (tables[field["namespace"], field["name"]], field["field"], how["type"], how["subtype"])
        for field in fields
        for how in field["transformations"]
    }
