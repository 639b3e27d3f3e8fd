"""One round of the demo: change the base tables, run the group's DAG once, read the report that it wrote."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.demo_display import Display
from bench.local_airflow import FINISHED, Airflow
from bench.refresh_functions import Stream
from bench.results import Round
from ivm_core import Engine
from ivm_core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAG = "ivm_tpch"
TITLES = {"RF1": "inserts", "RF2": "deletes", "RF3": "updates"}
POLL_SECONDS = 0.5
RUN_LIMIT_SECONDS = 3600.0


def run_round(
    name: str,
    last: bool,
    stream: Stream,
    spark: SparkSession,
    engine: Engine,
    airflow: Airflow,
    reports: Path,
    display: Display,
) -> tuple[Round, dict[str, Any]]:
    """Apply the changes called ``name`` and run the DAG; the last round validates everything and times full refreshes."""
    title = TITLES[name]
    functions = {"RF1": stream.insert_orders, "RF2": stream.delete_orders, "RF3": stream.update_rows}
    started = time.monotonic()
    with display.step(f"{name}: {title}"):
        rows = functions[name](spark, 1)
    changed = time.monotonic()
    run_id = f"demo_{name.lower()}_{title}"
    airflow.trigger(DAG, run_id, {"measure_full": True, "reason": f"{name} {title}"} if last else {"reason": name})
    views = len(engine.catalog.views())
    with display.step(f"{name}: Airflow run", 2 * views if last else views) as advance:
        _await_run(engine, airflow, run_id, advance)
    finished = time.monotonic()
    report = _report(reports, run_id, airflow)
    return Round(name, title, rows, changed - started, run_id, finished - changed), report


def _await_run(engine: Engine, airflow: Airflow, run_id: str, advance: Any) -> None:
    """Wait for the run's end; tell ``advance`` of every view whose batch, and whose validation, is in the catalogue."""
    deadline = time.monotonic() + RUN_LIMIT_SECONDS
    seen: set[tuple[str, str]] = set()
    while time.monotonic() < deadline:
        for step in _steps_done(engine, run_id) - seen:
            seen.add(step)
            advance(step[1])
        if airflow.run_state(DAG, run_id) in FINISHED:
            return
        time.sleep(POLL_SECONDS)
    raise EnvironmentProblem(f"The Airflow run {run_id} did not end within {RUN_LIMIT_SECONDS / 60:.0f} minutes.")


def _steps_done(engine: Engine, run_id: str) -> set[tuple[str, str]]:
    catalog = engine.catalog
    names = [view.name for view in catalog.views()]
    done = {("maintain", name) for name in names if any(b.run_id == run_id for b in catalog.history(name, 1))}
    return done | {
        ("validate", name) for name in names if any(v.run_id == run_id for v in catalog.validations(name, 1))
    }


def _report(folder: Path, run_id: str, airflow: Airflow) -> dict[str, Any]:
    """The report of a run. Raises EnvironmentProblem where the run broke off before writing one."""
    for file in folder.glob("*.json"):
        document = json.loads(file.read_text("utf-8"))
        if isinstance(document, dict) and document.get("run_id") == run_id:
            return document
    states = airflow.task_states(DAG, run_id)
    failed = ", ".join(task for task, state in states.items() if state == "failed") or "unknown"
    logs = airflow.folder / "logs" / f"dag_id={DAG}" / f"run_id={run_id}"
    raise EnvironmentProblem(
        f"The Airflow run {run_id} wrote no report; failed tasks: {failed}. Their logs are in {logs}."
    )
