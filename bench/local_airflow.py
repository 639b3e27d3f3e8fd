"""A private Airflow (scheduler, DAG processor, API server, triggerer where asked), spoken to through its REST API.

The processes see this repository's ``dags/`` and ``plugins/`` and nothing of the caller's Airflow. LocalExecutor on SQLite;
everything they write lies under one folder; the API listens on a free loopback port and needs no login.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

from ivm_core.engine.connect_server import free_port
from ivm_core.errors import EnvironmentProblem

ROOT = Path(__file__).parent.parent
PROCESSES = ("api-server", "scheduler", "dag-processor")
FINISHED = frozenset({"success", "failed"})
STOP_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Airflow:
    """A running Airflow: its address, and the folder that has its logs. ``login``: name and password, where asked for."""

    url: str
    folder: Path
    processes: Mapping[str, subprocess.Popen[bytes]]
    login: tuple[str, str] | None = None

    def await_dag(self, dag_id: str, wait_seconds: float = 120.0) -> None:
        """Wait until the DAG can be triggered. Raises EnvironmentProblem with Airflow's import error where there is one."""
        deadline = time.monotonic() + wait_seconds
        while time.monotonic() < deadline:
            if self._get(f"dags/{quote(dag_id)}", missing=None) is not None:
                return
            errors = (self._get("importErrors", missing=None) or {}).get("import_errors", [])
            if errors:
                last = str(errors[0]["stack_trace"]).strip().splitlines()[-1]
                raise EnvironmentProblem(f"Airflow cannot read {errors[0]['filename']}: {last}")
            time.sleep(0.5)
        raise EnvironmentProblem(f"Airflow did not show the DAG {dag_id} in {wait_seconds:.0f} s. See {self.folder}.")

    def trigger(self, dag_id: str, run_id: str, conf: Mapping[str, Any]) -> None:
        """Start one run of the DAG, now."""
        self._call("POST", f"dags/{quote(dag_id)}/dagRuns", {"dag_run_id": run_id, "logical_date": None, "conf": conf})

    def run_state(self, dag_id: str, run_id: str) -> str:
        """The state of a run: ``queued``, ``running``, ``success`` or ``failed``."""
        return str(self._get(f"dags/{quote(dag_id)}/dagRuns/{quote(run_id)}")["state"])

    def task_states(self, dag_id: str, run_id: str) -> dict[str, str | None]:
        """The state of each task of a run, None for one that was not reached yet."""
        answer = self._get(f"dags/{quote(dag_id)}/dagRuns/{quote(run_id)}/taskInstances")
        return {task["task_id"]: task["state"] for task in answer["task_instances"]}

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Any other request to ``/api/v2/<path>``; its answer. Raises HTTPError."""
        return self._call(method, path, body)

    def _get(self, path: str, **missing: Any) -> Any:
        try:
            return self._call("GET", path)
        except HTTPError as error:
            if "missing" in missing and error.code == 404:
                return missing["missing"]
            raise

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise EnvironmentProblem(
                    f"Airflow's {name} ended with code {process.returncode}. Its output is in {self.folder / name}.log."
                )
        request = Request(
            f"{self.url}/api/v2/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._token()}"},
        )
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def _token(self) -> str:
        # Where all users are administrators, a token is given away.
        body = None if self.login is None else dict(zip(("username", "password"), self.login, strict=True))
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}/auth/token", data=data, headers={"Content-Type": "application/json"})
        with urlopen(request, timeout=60) as answer:
            return str(json.load(answer)["access_token"])


@contextmanager
def start_airflow(
    folder: Path,
    *,
    settings: Path,
    manifest: Path,
    connections: Mapping[str, Mapping[str, Any]],
    triggerer: bool = False,
    more: Mapping[str, str] | None = None,
    login: tuple[str, str] | None = None,
) -> Iterator[Airflow]:
    """Run Airflow with everything it writes under ``folder``; it ends with the block, however the block ends.

    ``settings`` and ``manifest`` are the deployment's; ``connections`` Airflow's, by id; ``triggerer``: for watchers and
    deadlines; ``more``: of the environment; ``login``: who asks, where not everybody is an administrator. Raises
    EnvironmentProblem.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    environment = airflow_environment(folder, port, connections)
    environment |= {"IVM_SETTINGS": str(settings), "IVM_MANIFEST": str(manifest), **(more or {})}
    with ExitStack() as stack:
        _run_once(folder, environment, "db", "migrate")
        processes = {
            name: stack.enter_context(_process(folder, environment, name, *_options(name, port)))
            for name in (*PROCESSES, *(("triggerer",) if triggerer else ()))
        }
        airflow = Airflow(f"http://127.0.0.1:{port}", folder, processes, login)
        _await_api(airflow)
        yield airflow


def airflow_environment(folder: Path, port: int, connections: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The environment of all processes: the caller's without its Airflow, ivm and Spark settings, and our own."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW", "IVM_", "SPARK_"))}
    settings = {
        "CORE__DAGS_FOLDER": ROOT / "dags",
        "CORE__PLUGINS_FOLDER": ROOT / "plugins",
        "CORE__EXECUTOR": "LocalExecutor",
        "CORE__PARALLELISM": 2,
        "CORE__LOAD_EXAMPLES": False,
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": False,
        "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": True,
        "CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "API__BASE_URL": f"http://127.0.0.1:{port}",
        "API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "API__SECRET_KEY": secrets.token_hex(32),
        # SQLite has one writer at a time: on a busy machine the others wait longer than its five seconds.
        "DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder / 'airflow.db'}?timeout=60",
        "DATABASE__LOAD_DEFAULT_CONNECTIONS": False,
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": 5,
        "DAG_PROCESSOR__REFRESH_INTERVAL": 5,
        "DAG_PROCESSOR__PARSING_PROCESSES": 1,
        "SCHEDULER__SCHEDULER_HEARTBEAT_SEC": 1,
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": 0.5,
        "SCHEDULER__ENABLE_HEALTH_CHECK": False,
        "LOGGING__WORKER_LOG_SERVER_PORT": free_port(),
        "LOGGING__TRIGGER_LOG_SERVER_PORT": free_port(),
        "USAGE_DATA_COLLECTION__ENABLED": False,
    }
    return {
        **kept,
        **{f"AIRFLOW__{key}": str(value) for key, value in settings.items()},
        **{f"AIRFLOW_CONN_{name.upper()}": json.dumps(connection) for name, connection in connections.items()},
        "AIRFLOW_HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
        "GX_ANALYTICS_ENABLED": "false",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def _options(name: str, port: int) -> tuple[str, ...]:
    return ("--host", "127.0.0.1", "--port", str(port), "--workers", "1") if name == "api-server" else ()


def _run_once(folder: Path, environment: Mapping[str, str], *arguments: str) -> None:
    log = folder / f"{'-'.join(arguments)}.log"
    with log.open("wb") as sink:
        command = [sys.executable, "-m", "airflow", *arguments]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=sink, stderr=sink, check=False)
    if done.returncode != 0:
        raise EnvironmentProblem(f"`airflow {' '.join(arguments)}` failed. Its output is in {log}.")


@contextmanager
def _process(
    folder: Path, environment: Mapping[str, str], name: str, *options: str
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{name}.log").open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "airflow", name, *options],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            # A process group of its own: an interrupt at the terminal reaches us, and we stop it in order.
            start_new_session=True,
        )
        try:
            yield process
        finally:
            stop_process(process)


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """End the process and whatever it has started, gently first."""
    import psutil

    try:
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    _, alive = psutil.wait_procs(family, STOP_SECONDS)
    for survivor in alive:
        survivor.kill()
    process.wait(STOP_SECONDS)


def _await_api(airflow: Airflow, wait_seconds: float = 180.0) -> None:
    deadline = time.monotonic() + wait_seconds
    while time.monotonic() < deadline:
        try:
            airflow._get("version")
            return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.3)
    raise EnvironmentProblem(f"Airflow's API did not answer within {wait_seconds:.0f} s. See {airflow.folder}.")
