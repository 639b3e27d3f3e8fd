"""People at work: through a real browser in a real Airflow with PostgreSQL, and machines that break meanwhile.

A backfill and a run are started in Airflow's own forms, a refresh and a validation on our page; Spark is killed in the middle of
a batch, as a server and as the driver inside a task. Whatever happened, the views are what their queries give.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.postgres import postgres  # noqa: F401

from . import browser
from .browser import keep_picture, needs_chromium
from .live_world import DAGS, World, live_world

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.slow, needs_chromium]

DAG = "ivm_minutely"
VIEW = "live.revenue"
IN_TASK = {"conn_type": "spark", "host": "local[2]", "extra": json.dumps({"spark.driver.memory": "1g"})}
PEOPLE = {"ada": "admin", "uma": "user"}


@pytest.fixture(scope="module")
def world(postgres, tmp_path_factory) -> Iterator[World]:  # noqa: F811
    with live_world(tmp_path_factory.mktemp("people"), postgres, PEOPLE, connected=False) as running:
        # In Airflow's database, where an administrator keeps it.
        running.airflow.ask("POST", "connections", {"connection_id": "spark_default", **running.connection})
        yield running


@pytest.fixture
def tab(chromium, world) -> Iterator[Any]:
    """Uma's browser, logged in; whatever the console complains of in our own pages fails the test."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1100}, color_scheme="light")
    page = context.new_page()
    page.set_default_timeout(120_000)  # Airflow answers slowly while others compute
    complaints: list[str] = []
    page.on("console", lambda entry: complaints.append(entry.text) if own(entry.location["url"]) else None)
    passwords = json.loads((world.folder / "passwords.json").read_text("utf-8"))
    browser.log_in(page, world.airflow.url, "uma", passwords["uma"], "/ivm/")
    yield page
    context.close()
    assert complaints == []


def test_a_backfill_from_airflow_s_form(tab, world):
    world.settle()
    world.pause(True)
    began = datetime.now(UTC)
    for _ in range(2):
        world.change()
        time.sleep(45)
    form = trigger_form(tab, world)
    form.get_by_text("Backfill", exact=True).click()
    pick(form, "From", began.replace(second=0))
    pick(form, "To", datetime.now(UTC))
    form.get_by_text("All Runs").click()
    # Without it Airflow's form sends no parameters at all.
    form.get_by_text("Override parameters on existing runs").click()
    reason(form).fill("after the outage")
    keep_picture(tab, "airflow-backfill.png")
    form.get_by_role("button", name="Run Backfill").click()
    tab.get_by_text("Backfill generated").first.wait_for()
    world.pause(False)
    [made] = world.airflow.ask("GET", f"backfills?dag_id={DAG}")["backfills"]
    assert made["dag_run_conf"]["reason"] == "after the outage"
    world.wait(lambda: world.airflow.ask("GET", f"backfills/{made['id']}")["completed_at"], 600)
    runs = [run for run in world.runs(DAG) if run["run_type"] == "backfill"]
    assert runs and {run["state"] for run in runs} == {"success"}
    assert {run["triggering_user_name"] for run in runs} == {"uma"}
    world.wait(lambda: not world.wrong(VIEW))


def test_a_run_from_airflow_s_form_with_parameters(tab, world):
    world.settle()
    world.change()
    form = trigger_form(tab, world)
    button = form.get_by_role("button", name="Trigger")
    wait_for(button.is_enabled)  # nothing has to be filled in
    form.get_by_role("combobox", name="Select one or multiple values").click()
    tab.get_by_role("option", name=VIEW, exact=True).click()
    form.get_by_role("combobox", name="Mode").click()
    tab.get_by_role("option", name="full", exact=True).click()
    reason(form).fill("price list was wrong")
    keep_picture(tab, "airflow-trigger.png")
    button.click()
    tab.get_by_text("Dag Run triggered", exact=False).first.wait_for()
    run = world.wait(lambda: next((r for r in world.runs(DAG) if r["conf"].get("mode") == "full"), None), 60)
    assert run["conf"]["views"] == [VIEW] and run["conf"]["reason"] == "price list was wrong"
    assert world.ended(DAG, run["dag_run_id"]) == "success"
    [batch] = [batch for batch in world.engine.history(VIEW) if batch.run_id == run["dag_run_id"]]
    assert (str(batch.strategy), str(batch.reason)) == ("full", "requested")


def test_a_refresh_and_a_validation_on_our_page_up_to_the_data_docs(tab, world):
    world.settle()
    world.change()
    done = {}
    for action in ("Refresh", "Validate"):
        tab.goto(f"{world.airflow.url}/ivm/views/{VIEW}")
        tab.get_by_label("Reason, for the run’s report").fill(f"{action} by hand")
        tab.get_by_role("button", name=action, exact=True).click()
        tab.wait_for_url("**?run=manual__*")
        run_id = tab.get_by_role("status").get_by_role("link").inner_text()
        row = tab.get_by_role("row").filter(has_text=run_id)
        # A refresh that finds a scheduled run's work done is a success without a report.
        wait_for(lambda: "success" in row.inner_text(), tab.reload)  # noqa: B023 - done within the turn
        done[action] = run_id
    assert world.wrong(VIEW) == {}
    tab.locator("summary", has_text="as a table").click()
    tab.locator("#runs").scroll_into_view_if_needed()
    keep_picture(tab, "live-view.png")
    tab.get_by_role("row").filter(has_text=done["Validate"]).get_by_role("link", name="report").first.click()
    tab.wait_for_url("**/ivm/reports/*manual__*.html")
    assert "Validate by hand" in tab.locator("body").inner_text()
    keep_picture(tab, "page-report.png", height=270)
    tab.goto(f"{world.airflow.url}/ivm/")
    # Uma may read every group, and so the Data Docs.
    tab.get_by_role("link", name="Data Docs").click()
    tab.wait_for_url("**/ivm/data-docs/index.html")
    folder = world.folder / "reports" / "quality"
    page = next(path for path in folder.rglob("validations/**/*.html") if VIEW in path.read_text("utf-8"))
    site = next(path for path in folder.rglob("index.html")).parent
    tab.goto(f"{world.airflow.url}/ivm/data-docs/{page.relative_to(site)}")
    assert VIEW in tab.locator("body").inner_text()


@pytest.fixture
def alone(world) -> Iterator[None]:
    """Only the DAG of the test runs."""
    for dag_id in set(DAGS) - {DAG}:
        world.pause(True, dag_id)
    world.settle()
    yield
    for dag_id in set(DAGS) - {DAG}:
        world.pause(False, dag_id)


@pytest.mark.parametrize("where", ["server", "task"])
def test_spark_killed_in_the_middle_of_a_batch(world, alone, where):
    world.change()
    run_id = f"killed-in-the-{where}"
    folder = Path(world.engine.catalog.view(VIEW).location)
    before = set(folder.glob("*.parquet"))
    if where == "server":
        [java] = javas(os.getpid())
        world.leave_spark()
    else:
        java = None
        connect(world, IN_TASK)
    world.airflow.trigger(DAG, run_id, {"mode": "full", "views": [VIEW]})
    # Files are written; the commit is next.
    wait_for(lambda: set(folder.glob("*.parquet")) > before, pause=0.01)
    if java is None:
        java = max(javas(world.airflow.processes["scheduler"].pid), key=psutil.Process.create_time)
    java.kill()
    java.wait(30)
    if where == "server":
        world.stop_spark()
        world.start_spark()  # as whatever watches over the server would
    else:
        connect(world, world.connection)
    assert world.ended(DAG, run_id, 600) == "success"
    tasks = world.airflow.ask("GET", f"dags/{DAG}/dagRuns/{run_id}/taskInstances")["task_instances"]
    assert {task["task_id"]: task["try_number"] for task in tasks}["maintain"] == 2
    done = [batch for batch in world.engine.history(VIEW, 50) if batch.run_id == run_id and batch.succeeded]
    assert len(done) == 1 and str(done[0].strategy) == "full"
    world.wait(lambda: not world.wrong(VIEW))
    assert world.engine.validate(VIEW).ok


def test_everything_is_right_in_the_end(world):
    world.change()
    world.wait(lambda: not world.wrong(), 300)


def connect(world: World, connection: dict[str, Any]) -> None:
    """Change Airflow's connection to Spark."""
    body = {"connection_id": "spark_default", "port": None, "extra": None, **connection}
    world.airflow.ask("PATCH", "connections/spark_default", body)


def own(url: str) -> bool:
    return "/ivm/" in url and "/data-docs/" not in url


def trigger_form(tab: Any, world: World) -> Any:
    """Airflow's form to start runs of the DAG, opened on the DAG's page."""
    tab.goto(f"{world.airflow.url}/dags/{DAG}")
    tab.get_by_role("button", name="Trigger").first.click()
    form = tab.get_by_role("dialog").filter(has_text="Single Run")
    form.wait_for()
    return form


def reason(form: Any) -> Any:
    return form.get_by_role("group").filter(has_text="Reason").get_by_role("textbox").last


def pick(form: Any, label: str, when: datetime) -> None:
    """Choose a date and a minute in Airflow's picker."""
    tab = form.page
    form.get_by_role("group").filter(has=tab.locator("label", has_text=label)).get_by_test_id("datetime-input").click()
    picker = tab.get_by_role("dialog").filter(has=tab.get_by_role("textbox", name=label)).last
    picker.get_by_placeholder("YYYY/MM/DD").fill(when.strftime("%Y/%m/%d"))
    picker.get_by_placeholder("HH:mm").fill(when.strftime("%H:%M"))
    form.get_by_text("Date Range").click()


def javas(pid: int) -> list[psutil.Process]:
    """The Java programs that a process has started, by themselves or by its children."""
    return [child for child in psutil.Process(pid).children(recursive=True) if child.name() == "java"]


def wait_for(
    done: Callable[[], bool], between: Callable[[], Any] = lambda: None, seconds: float = 240.0, pause: float = 0.5
) -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=seconds)
    while not done():
        assert datetime.now(UTC) < deadline, f"this took longer than {seconds:.0f} s"
        time.sleep(pause)
        between()
