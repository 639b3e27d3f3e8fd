"""A deployment at work for tests: a warm Spark, a catalogue, and Airflow's processes that keep the views; started and stopped here.

``live_world(…)`` makes one; Airflow's database and the catalogue are SQLite files, or two databases of a PostgreSQL server.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.local_airflow import Airflow, start_airflow
from ivm_core import Engine
from ivm_core.engine.connect_server import free_port, start_connect_server
from ivm_core.engine.session import open_session
from ivm_core.settings import Settings
from tests.bags import difference
from tests.conftest import TEST_CONF
from tests.postgres import PASSWORD, Server

from .conftest import ROOT

PROJECT = Path(__file__).parent / "live"
VIEWS = {
    "live.revenue": "SELECT country, count(*) AS orders, sum(amount) AS revenue FROM live.orders GROUP BY country",
    "live.large": "SELECT id, country, amount FROM live.orders WHERE amount > 50",
    "live.countries": "SELECT count(DISTINCT coalesce(country, '?')) AS countries, count(*) AS orders FROM live.orders",
}
DAGS = ("ivm_minutely", "ivm_eager", "ivm_above")
ENDED = {"success", "failed"}
HERE = "127.0.0.1"


class World:
    """A deployment on a warm Spark, and the Airflow that keeps its views."""

    airflow: Airflow
    engine: Engine

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.next_id = 0
        self._server = ExitStack()
        self._session = ExitStack()

    @property
    def connection(self) -> dict[str, Any]:
        """Airflow's connection to the warm Spark."""
        return {"conn_type": "spark_connect", "host": f"sc://{HERE}", "port": self.port}

    def start_spark(self) -> None:
        """Start the Spark Connect server, always at the same port, and open the engine on it."""
        server = start_connect_server(
            warehouse=str(self.folder / "spark"),
            master="local[2]",
            driver_memory="1500m",
            port=self.port,
            log=self.folder / "server.log",
            conf={"spark.sql.shuffle.partitions": "2", **TEST_CONF},
        )
        self._server.enter_context(server)
        settings = Settings.load(self.folder / "ivm.toml")
        self.spark = open_session(settings)
        self._session.callback(self.spark.stop)
        self.engine = self._session.enter_context(Engine.open(spark=self.spark, settings=settings))
        self.spark = self.engine.spark  # which knows the names of all tables

    def leave_spark(self) -> None:
        """Let go of the engine and its session; the server goes on."""
        self._session.close()

    def stop_spark(self) -> None:
        """Stop the server, if it is not gone already."""
        self.leave_spark()
        self._server.close()

    def change(self) -> None:
        """One commit that inserts, updates and deletes."""
        self.next_id += 10
        rows = ", ".join(f"({self.next_id + i}, '{'abc'[i % 3]}', {20 * i})" for i in range(5))
        self.spark.sql(
            f"""MERGE INTO live.orders AS t USING (
                SELECT id, country, CAST(amount AS DECIMAL(12, 2)) AS amount FROM VALUES {rows} AS new (id, country, amount)
                UNION ALL SELECT id, country, amount FROM live.orders WHERE id % 10 IN (1, 2)
            ) AS s ON t.id = s.id
            WHEN MATCHED AND t.id % 10 = 1 THEN DELETE
            WHEN MATCHED THEN UPDATE SET amount = t.amount + 1
            WHEN NOT MATCHED THEN INSERT *"""
        ).collect()

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        return list(self.airflow.ask("GET", f"dags/{dag_id}/dagRuns?limit=100&order_by=id")["dag_runs"])

    def wait(self, what: Callable[[], Any], seconds: float = 240.0) -> Any:
        """What ``what`` gives once it gives something."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := what():
                return found
            time.sleep(1)
        raise AssertionError(
            f"{what.__doc__ or what} did not come: {json.dumps({d: self.runs(d) for d in DAGS})[:6000]}"
        )

    def ended(self, dag_id: str, run_id: str, seconds: float = 240.0) -> str:
        """The state in which a run ends."""
        return str(self.wait(lambda: (s := self.airflow.run_state(dag_id, run_id)) in ENDED and s, seconds))

    def wrong(self, *names: str) -> dict[str, list]:
        """The views that are not what their queries give, with the differing rows."""
        found = {name: difference(self.engine.read(name), self.spark.sql(VIEWS[name])) for name in names or VIEWS}
        return {name: rows for name, rows in found.items() if rows}

    def pause(self, paused: bool, dag_id: str = "ivm_minutely") -> None:
        self.airflow.ask("PATCH", f"dags/{dag_id}?update_mask=is_paused", {"is_paused": paused})

    def settle(self) -> None:
        """Wait until no run is under way."""
        self.wait(lambda: all(run["state"] in ENDED for dag in DAGS for run in self.runs(dag)), 300)


@contextmanager
def live_world(
    folder: Path, server: Server | None = None, people: Mapping[str, str] | None = None, connected: bool = True
) -> Iterator[World]:
    """A world that ends with the block. ``server``: of PostgreSQL, for Airflow and for the catalogue.

    ``people``: roles by name, with the passwords in ``passwords.json``; without them everybody is an administrator.
    ``connected``: the environment names the connection to Spark, which then nobody can change.
    """
    world = World(folder)
    more, catalog = _databases(folder, server)
    (folder / "ivm.toml").write_text(
        f'catalog = "{catalog}"\nwarehouse = "warehouse"\nmanifest = "manifest.json"\n'
        f'[spark]\nmaster = "sc://{HERE}:{world.port}"\nshuffle_partitions = 2\n',
        "utf-8",
    )
    more |= {
        "AIRFLOW__IVM__ON_LATE": "tests.airflow.programs.late.note",
        "IVM_TEST_LATE": str(folder / "late.jsonl"),
        "PYTHONPATH": str(ROOT),
    }
    login = None
    if people:
        passwords = {name: f"p{secrets.token_urlsafe(12)}" for name in people}
        (folder / "passwords.json").write_text(json.dumps(passwords), "utf-8")
        login = next((name, passwords[name]) for name, role in people.items() if role == "admin")
        more |= {
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in people.items()),
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(folder / "passwords.json"),
        }
    with pytest.MonkeyPatch.context() as patch:
        if server is not None:
            patch.setenv("PGPASSWORD", PASSWORD)  # this process reads the catalogue too
        try:
            world.start_spark()
            world.engine.apply(PROJECT)
            with start_airflow(
                folder / "airflow",
                settings=folder / "ivm.toml",
                manifest=folder / "manifest.json",
                connections={"spark_default": world.connection} if connected else {},
                triggerer=True,
                more=more,
                login=login,
            ) as world.airflow:
                for dag_id in DAGS:
                    world.airflow.await_dag(dag_id)
                yield world
        finally:
            world.stop_spark()


def _databases(folder: Path, server: Server | None) -> tuple[dict[str, str], str]:
    """Airflow's settings of its own database, and the URL of the catalogue."""
    if server is None:
        return {}, "sqlite:///ivm.db"
    # As in docker-compose.yaml: the password is no part of an address.
    own, catalog = (f"ivm@{server.create_database().rpartition('@')[2]}" for _ in range(2))
    keys = ("SQL_ALCHEMY_CONN", "SQL_ALCHEMY_CONN_ASYNC")
    urls = {f"AIRFLOW__DATABASE__{key}": f"postgresql+psycopg://{own}" for key in keys}
    return {**urls, "PGPASSWORD": PASSWORD}, f"postgresql://{catalog}"
