"""``make demo``: TPC-H views through three rounds of changes, each followed by one run of their Airflow DAG.

A deployment of its own is made under ``.ivm/demo-sf<scale>``: settings, catalogue, tables, Airflow, reports. One Spark
Connect server serves all of it, so that loading, the DAG's tasks and the timed full refreshes share one warm Spark.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from bench import tpch_data
from bench.demo_display import Display
from bench.demo_rounds import TITLES, run_round
from bench.environment import machine, software
from bench.local_airflow import Airflow, start_airflow
from bench.lock import alone
from bench.refresh_functions import Stream
from bench.report_page import render_page
from bench.results import DemoResult, Round, join_reports
from ivm_core import Engine
from ivm_core.cost.model import Strategy
from ivm_core.engine.connect_server import start_connect_server
from ivm_core.engine.session import check_java, open_session
from ivm_core.errors import DriftError
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
DRIVER_MEMORY = "3g"
PERCENT = 0.1
SETTINGS = """\
# The demo's deployment; try `ivm status --settings {folder}`.
catalog = "sqlite:///catalog.db"
warehouse = "warehouse"
manifest = "manifest.json"
sql_dir = {sql}
project = "tpch"

[spark]
master = "local[*]"
driver_memory = "{memory}"
"""


def run(sf: float = 1.0, quiet: bool = False, folder: Path | None = None) -> dict[str, Any]:
    """Run the demo at a scale factor and return its result as plain values; ``quiet`` prints nothing.

    ``folder`` is where deployments lie (default: ``.ivm`` of the repository). Raises EnvironmentProblem where
    something does not start, DriftError where a view was found wrong; all processes have ended then too.
    """
    base = folder or ROOT / ".ivm"
    deployment = base / f"demo-sf{sf:g}"
    with ExitStack() as stack:
        stack.enter_context(_interruptible())
        stack.enter_context(alone(deployment, "demo"))
        display = stack.enter_context(Display(quiet))
        result = _run(sf, base, deployment, display)
    page = deployment / "demo.html"
    document = {**asdict(result), "ok": result.ok, "ratio": result.ratio, "page": str(page)}
    (deployment / "demo.json").write_text(json.dumps(document, indent=2), "utf-8")
    page.write_text(render_page(result), "utf-8")
    display.show(result, page)
    if not result.ok:
        wrong = [view.view for view in result.views if not view.validated or any(b.error for b in view.batches)]
        raise DriftError(f"Not every view is right: {', '.join(wrong)}. See {page} and {deployment / 'reports'}.")
    return document


def _run(sf: float, base: Path, deployment: Path, display: Display) -> DemoResult:
    check_java()
    started = time.monotonic()
    steps: dict[str, float] = {}
    with display.step("Generate TPC-H data", len(tpch_data.TABLES)) as advance:
        data = tpch_data.generate(sf, base / "data", advance)
    settings = _prepare(deployment)
    with ExitStack() as stack:
        with display.step("Start Spark"):
            url = stack.enter_context(
                start_connect_server(
                    warehouse=deployment / "warehouse" / "tables",
                    driver_memory=DRIVER_MEMORY,
                    conf={"spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2))},
                    log=deployment / "spark.log",
                )
            )
            overridden = settings.model_copy(update={"spark": settings.spark.model_copy(update={"master": url})})
            spark = open_session(overridden)
            stack.callback(_end_session, spark, url)
        # Airflow's processes take half a minute to answer: meanwhile the tables are loaded and the views built.
        on_demand = deployment / "manifest-on-demand.json"
        starting = stack.enter_context(_in_background(_airflow(deployment, on_demand, url)))
        with _timed(steps, "tables loaded"), display.step("Load base tables", len(tpch_data.TABLES)) as advance:
            tpch_data.create_tables(spark)
            tpch_data.load(spark, data, advance)
        with Engine.open(spark=spark, settings=overridden) as engine:
            with _timed(steps, "views built"), display.step("Build views", len(_view_files())) as advance:
                engine.apply(on_progress=lambda name, action: advance(name) if action == "create" else None)
            _write_manifest_on_demand(overridden.manifest, on_demand)
            with display.step("Start Airflow"):
                airflow = starting.result()
                airflow.await_dag("ivm_tpch")
            display.say(f"Airflow: {airflow.url} (while the demo runs)")
            rounds, reports = _rounds(Stream(sf, data, PERCENT), spark, engine, airflow, deployment, display)
            with display.step("Run without changes"):
                unchanged_seconds = _run_without_changes(engine)
    return DemoResult(
        scale=sf,
        percent=PERCENT,
        rounds=rounds,
        views=join_reports(reports),
        machine=_machine(),
        steps=steps,
        unchanged_seconds=unchanged_seconds,
        finished_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        total_seconds=time.monotonic() - started,
    )


def _rounds(
    stream: Stream, spark: SparkSession, engine: Engine, airflow: Airflow, deployment: Path, display: Display
) -> tuple[tuple[Round, ...], list[dict[str, Any]]]:
    rounds: list[Round] = []
    reports: list[dict[str, Any]] = []
    for name in TITLES:
        last = len(rounds) == len(TITLES) - 1
        done, report = run_round(name, last, stream, spark, engine, airflow, deployment / "reports", display)
        rounds.append(done)
        reports.append(report)
    return tuple(rounds), reports


def _run_without_changes(engine: Engine) -> float | None:
    """Seconds of a run of the group that finds no table changed; None where it found work."""
    started = time.monotonic()
    reports = engine.maintain(group="tpch")
    taken = time.monotonic() - started
    return taken if all(report.strategy is Strategy.NOOP for report in reports) else None


def _prepare(deployment: Path) -> Settings:
    """An empty deployment folder with its settings file."""
    shutil.rmtree(deployment, ignore_errors=True)
    deployment.mkdir(parents=True)
    text = SETTINGS.format(folder=deployment, sql=json.dumps(str(ROOT / "sql")), memory=DRIVER_MEMORY)
    (deployment / "ivm.toml").write_text(text, "utf-8")
    return Settings.load(deployment / "ivm.toml")


def _view_files() -> list[Path]:
    return sorted((ROOT / "sql" / "tpch" / "views").glob("*.sql"))


def _write_manifest_on_demand(manifest: Path, target: Path) -> None:
    """Copy the manifest without schedules: a full hour must not add a run to the three. Airflow may read it at any time."""
    document = json.loads(manifest.read_text("utf-8"))
    for group in document["groups"]:
        group["schedule"] = None
    whole = target.with_suffix(".new")
    whole.write_text(json.dumps(document, indent=2), "utf-8")
    whole.replace(target)


@contextmanager
def _in_background(context: AbstractContextManager[Airflow]) -> Iterator[Future[Airflow]]:
    """Enter a context beside what the block does, and leave it at the block's end."""
    with ThreadPoolExecutor(1) as pool:
        entering = pool.submit(context.__enter__)
        try:
            yield entering
        finally:
            if entering.exception() is None:
                context.__exit__(None, None, None)


@contextmanager
def _airflow(deployment: Path, manifest: Path, url: str) -> Iterator[Airflow]:
    host, _, port = url.removeprefix("sc://").partition(":")
    connection = {"conn_type": "spark_connect", "host": host, "port": int(port)}
    with start_airflow(
        deployment / "airflow",
        settings=deployment / "ivm.toml",
        manifest=manifest,
        connections={"spark_default": connection},
    ) as airflow:
        yield airflow


@contextmanager
def _timed(steps: dict[str, float], name: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    steps[name] = time.monotonic() - started


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a termination unwind the stack as Ctrl-C does, so that every process started here is stopped."""

    def stop(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread: the caller handles signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_session(spark: SparkSession, url: str) -> None:
    """Stop the session where its server still lives: to a dead one the client would say goodbye for ten minutes."""
    host, _, port = url.removeprefix("sc://").partition(":")
    with contextlib.suppress(OSError):
        socket.create_connection((host, int(port)), 1).close()
        spark.stop()


def _machine() -> dict[str, str]:
    return {
        "machine": machine(),
        "software": f"{software()}, Airflow {version('apache-airflow')}",
        "Spark driver": DRIVER_MEMORY.replace("g", " GiB"),
    }
