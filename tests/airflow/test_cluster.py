"""The deployment of docker-compose.yaml without containers: its processes, commands, settings, health checks and databases.

PostgreSQL for Airflow and for the catalogue, a Spark master with two workers, a Spark Connect server on them, and Airflow with
users: a group's run starts through REST and computes on the cluster, over Spark Connect and over `spark://`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import distributions
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from ivm_core import Engine
from ivm_core.engine.session import open_session
from ivm_core.settings import Settings
from tests.bags import difference
from tests.postgres import ENCODED, PASSWORD, postgres  # noqa: F401

from .compose_processes import API, HERE, MASTER, MASTER_PAGE, Compose, stopping
from .conftest import ROOT

# Asked of the metadata: looking the module up would import Airflow, which makes itself a home.
INSTALLED = any(found.name == "apache-airflow-providers-fab" for found in distributions())
pytestmark = [
    pytest.mark.airflow,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(
        not INSTALLED,
        reason="the FAB provider is not installed (uv sync --all-extras --group dev --group compose)",
    ),
]
PROJECT = Path(__file__).parent / "cluster"
VIEWS = {
    "far.large": "SELECT id, country, amount FROM far.orders WHERE amount > 50",
    "far.revenue": "SELECT country, count(*) AS orders, sum(amount) AS revenue, max(amount) AS largest FROM far.orders GROUP BY country",
}
DAG = "ivm_far"
SPARK = ("spark-master", "spark-worker-1", "spark-worker-2", "spark-connect")
AIRFLOW = ("airflow-api-server", "airflow-scheduler", "airflow-dag-processor", "airflow-triggerer")
# Small enough for two cores: the file's own variables.
SIZES = {
    "SPARK_WORKER_CORES": "1",
    "SPARK_WORKER_MEMORY": "1g",
    "SPARK_DRIVER_MEMORY": "1g",
    "SPARK_EXECUTOR_MEMORY": "768m",
}
CLASSIC = {
    "conn_type": "spark",
    "host": f"spark://{HERE}",
    "extra": {"spark.executor.memory": "768m", "spark.driver.memory": "1g"},
}

CLASSIC_RUNS = (("by-classic", "False", "catch_up", "incremental"), ("by-submit", "True", "full", "full"))


class Site:
    """The running deployment, and its administrator's way to Airflow's API."""

    def __init__(self, compose: Compose) -> None:
        self.compose = compose
        self.settings = Settings.load(compose.settings())
        self.next_id = 0

    def client(self) -> httpx.Client:
        """Somebody who logged in with the password that the containers' variables name."""
        client = httpx.Client(base_url=self.compose.url(API), timeout=60)
        variables = self.compose.variables
        login = {"username": variables["AIRFLOW_ADMIN_USER"], "password": variables["AIRFLOW_ADMIN_PASSWORD"]}
        token = client.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        client.cookies.set("_token", token)
        client.headers["Authorization"] = f"Bearer {token}"
        return client

    @contextmanager
    def engine(self) -> Iterator[Engine]:
        """The deployment's engine on the Connect server, as `ivm` on the command line has it."""
        spark = open_session(self.settings)
        try:
            with Engine.open(spark=spark, settings=self.settings) as engine:
                yield engine
        finally:
            spark.stop()

    def change(self) -> None:
        """Two commits: new orders; then one in ten of all is deleted."""
        self.next_id += 100
        rows = ", ".join(f"({self.next_id + i}, '{'abc'[i % 3]}', {7 * i})" for i in range(20))
        with self.engine() as engine:
            engine.query("SELECT id FROM far.orders").count()
            engine.spark.sql(f"INSERT INTO far.orders VALUES {rows}").collect()
            engine.spark.sql(f"DELETE FROM far.orders WHERE id % 10 = {self.next_id // 100}").collect()

    def wrong(self) -> dict[str, list]:
        """The views that are not what their queries give, with the differing rows."""
        with self.engine() as engine:
            found = {name: difference(engine.read(name), engine.query(query)) for name, query in VIEWS.items()}
        return {name: rows for name, rows in found.items() if rows}

    def run(self, run_id: str, conf: dict, seconds: float = 240.0) -> dict[str, str]:
        """Start a run and wait for its end; the states of its tasks."""
        client = self.client()
        body = {"dag_run_id": run_id, "logical_date": None, "conf": conf}
        client.post(f"/api/v2/dags/{DAG}/dagRuns", json=body).raise_for_status()
        here = f"/api/v2/dags/{DAG}/dagRuns/{run_id}"
        wait(lambda: client.get(here).json()["state"] in ("success", "failed"), run_id, seconds)
        found = client.get(f"{here}/taskInstances").json()["task_instances"]
        return {task["task_id"]: task["state"] for task in found}

    def report(self, run_id: str) -> dict[str, dict]:
        """What the run's report says, by view."""
        [file] = Path(self.compose.folder, "lake", "reports").glob(f"*{run_id}*.json")
        return {view["view"]: view for view in json.loads(file.read_text("utf-8"))["views"]}

    def applications(self) -> list[tuple[str, int]]:
        """The names and cores of the cluster's applications, from the first to the newest, those that have ended too."""
        state = httpx.get(f"{self.compose.url(MASTER_PAGE)}/json/").json()
        found = sorted((*state["completedapps"], *state["activeapps"]), key=lambda app: app["id"])
        return [(app["name"], app["cores"]) for app in found]


def wait(done, what: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, f"{what} took longer than {seconds:.0f} s"
        time.sleep(0.5)


@pytest.fixture(scope="module")
def site(postgres, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("compose")
    for name in ("airflow/logs", "lake/warehouse"):
        (folder / name).mkdir(parents=True)
    shutil.copytree(PROJECT, folder / "sql" / "far")
    made = subprocess.run(
        [sys.executable, ROOT / "docker" / "make_secrets.py"], capture_output=True, text=True, check=True
    )
    variables = dict(line.split("=", 1) for line in made.stdout.splitlines())
    variables |= {**SIZES, "POSTGRES_PASSWORD": PASSWORD}
    make_databases(postgres)
    with pytest.MonkeyPatch.context() as patch, stopping(Compose(folder, variables, postgres.port)) as compose:
        # For this process, which reads the catalogue too.
        patch.setenv("PGPASSWORD", PASSWORD)
        site = Site(compose)
        compose.start("spark-master")
        compose.start("airflow-init")
        compose.await_healthy("spark-master")
        for name in SPARK[1:3]:
            compose.start(name)
        compose.await_healthy(*SPARK[1:3])
        compose.start("spark-connect")
        assert compose.running.pop("airflow-init").wait(180) == 0, (folder / "airflow-init.log").read_text("utf-8")
        compose.start("airflow-api-server")
        compose.await_healthy("spark-connect", "airflow-api-server")
        for name in AIRFLOW[1:]:
            compose.start(name)
        compose.run("ivm", "ivm", "apply")
        client = site.client()
        wait(lambda: client.get(f"/api/v2/dags/{DAG}").status_code == 200, f"to show {DAG}", 120)
        client.patch(f"/api/v2/dags/{DAG}", json={"is_paused": False}).raise_for_status()
        yield site


def make_databases(server) -> None:
    """As PostgreSQL's image does on an empty data folder: POSTGRES_DB, then the scripts."""
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE ivm")
    there = {"PGHOST": HERE, "PGPORT": str(server.port), "PGPASSWORD": PASSWORD, "POSTGRES_USER": "ivm"}
    environment = {**there, "PATH": f"{server.binaries}:/usr/bin:/bin"}
    subprocess.run([ROOT / "docker" / "databases.sh"], env=environment, check=True, timeout=60)


def test_the_cluster_is_whole(site):
    state = httpx.get(f"{site.compose.url(MASTER_PAGE)}/json/").json()
    assert [worker["state"] for worker in state["workers"]] == ["ALIVE", "ALIVE"]
    assert state["cores"] == 2


def test_a_run_over_spark_connect(site):
    site.change()
    assert set(site.run("by-connect", {"reason": "a", "measure_full": True}).values()) == {"success"}
    views = site.report("by-connect").values()
    assert {(view["strategy"], view["validated"]) for view in views} == {("incremental", True)}
    assert site.wrong() == {}
    assert {cores for _, cores in site.applications()} == {2}, "the Connect server computes on both workers"


@pytest.mark.parametrize(("task", "link"), [("report", "Report"), ("validate", "Data Docs")])
def test_airflow_leads_from_the_run_to_what_it_left(site, task, link):
    client = site.client()
    here = f"/api/v2/dags/{DAG}/dagRuns/by-connect/taskInstances/{task}/links"
    address = client.get(here).raise_for_status().json()["extra_links"][link]
    answer = client.get(address)
    assert answer.status_code == 200 and "<html" in answer.text
    assert httpx.get(f"{site.compose.url(API)}{address}").status_code == 401


def test_what_is_started_says_that_it_is_healthy(site):
    checked = {name: site.compose.is_healthy(name) for name in (*SPARK, *AIRFLOW)}
    assert all(checked.values()), checked


def test_nobody_gets_in_without_the_password(site):
    client = httpx.Client(base_url=site.compose.url(API))
    assert client.get("/ivm/").status_code == client.get("/api/v2/dags").status_code == 401
    assert client.post("/auth/token", json={"username": "admin", "password": "admin"}).status_code == 401
    page = site.client().get("/ivm/").text
    assert all(name in page for name in VIEWS)
    with psycopg.connect(site.settings.catalog.replace("ivm@", f"ivm:{ENCODED}@")) as connection:
        assert connection.execute("SELECT count(*) FROM ivm_views").fetchone() == (2,)


def test_no_secret_is_an_argument(site):
    secrets = [value for name, value in site.compose.variables.items() if name.endswith(("PASSWORD", "SECRET", "KEY"))]
    for process in site.compose.running.values():
        for one in (psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)):
            # Tasks come and go meanwhile.
            with suppress(psutil.NoSuchProcess):
                assert not any(secret in " ".join(one.cmdline()) for secret in secrets)


def test_the_start_can_be_repeated(site):
    """`docker compose up` runs airflow-init each time."""
    site.compose.run("airflow-init")
    assert site.client().get("/api/v2/pools/ivm").json()["slots"] == 4


def test_runs_over_a_classic_connection(site):
    """The driver is in the task, then in a program that the task submits. The Connect server, which has all cores, makes room."""
    connection = json.dumps({**CLASSIC, "port": site.compose.ports[MASTER]})
    site.change()
    site.compose.stop("spark-connect")
    # Nothing has changed for the second: it computes all anew.
    for name, submit, mode, strategy in CLASSIC_RUNS:
        site.compose.stop("airflow-scheduler")
        more = {"AIRFLOW_CONN_SPARK_DEFAULT": connection, "AIRFLOW__IVM__SUBMIT": submit}
        site.compose.start("airflow-scheduler", **more)
        known = len(site.applications())
        assert set(site.run(name, {"reason": name, "mode": mode}).values()) == {"success"}
        assert {view["strategy"] for view in site.report(name).values()} == {strategy}
        new = site.applications()[known:]
        assert new and {cores for _, cores in new} == {2}
    site.compose.start("spark-connect")
    site.compose.await_healthy("spark-connect")
    assert site.wrong() == {}
