"""The services of docker-compose.yaml as processes of this machine, with the file's own commands, settings and health checks.

Hosts become the loopback address, ports free ones, folders of the image and its volumes those of a test; nothing else.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bench.local_airflow import stop_process
from ivm_core.engine.connect_server import free_port

from .conftest import ROOT

HERE = "127.0.0.1"
VARIABLE = re.compile(r"\$\{([A-Z_]+):(?:\?|-([^}]*))\}")
API, CONNECT = "airflow-api-server:8080", "spark-connect:15002"
MASTER, MASTER_PAGE = "spark-master:7077", "spark-master:8080"
ADDRESSES = (API, CONNECT, MASTER, MASTER_PAGE, "spark-worker-1:8081", "spark-worker-2:8081")
SPARK_HOSTS = ("spark-master", "spark-worker-1", "spark-worker-2", "spark-connect", "airflow-scheduler")


@dataclass(slots=True)
class Compose:
    """The file with its ``variables`` filled in. ``database_port``: PostgreSQL's, which the caller runs."""

    folder: Path
    variables: Mapping[str, str]
    database_port: int
    ports: dict[str, int] = field(default_factory=lambda: {address: free_port() for address in ADDRESSES})
    more: dict[str, str] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def service(self, name: str) -> dict[str, Any]:
        """A service of the file, with everything in place."""
        services = yaml.safe_load((ROOT / "docker-compose.yaml").read_text("utf-8"))["services"]
        return {key: self._placed(value) for key, value in services[name].items()}

    def url(self, address: str) -> str:
        """Where ``host:port`` of the file is found here."""
        return f"http://{HERE}:{self.ports[address]}"

    def settings(self) -> Path:
        """The containers' settings file with everything in place."""
        file = self.folder / "ivm.toml"
        file.write_text(self._placed((ROOT / "docker" / "ivm.toml").read_text("utf-8")), "utf-8")
        return file

    def environment(self, name: str, **more: str) -> dict[str, str]:
        """What a service's process sees: as in the image, and of the caller's environment only what programs need."""
        kept = {key: os.environ[key] for key in ("HOME", "LANG", "JAVA_HOME", "TMPDIR", "PYTHONPATH") if key in os.environ}  # fmt: skip
        return {
            **kept,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYSPARK_PYTHON": sys.executable,
            "AIRFLOW_HOME": str(self.folder / "airflow"),
            # Containers have ports of their own.
            "WEB_PORT": str(self.ports.get(f"{name}:8081") or self.ports[MASTER_PAGE]),
            "CONNECT_PORT": str(self.ports[CONNECT]),
            "AIRFLOW__API__HOST": HERE,
            "BIND": HERE,
            "WAREHOUSE": str(self.folder / "lake" / "warehouse"),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
            "NO_PROXY": HERE,
            **self.service(name).get("environment", {}),
            **self.more,
            **more,
        }

    def start(self, name: str, **more: str) -> None:
        """Start a service; ``more`` is what an override file would add to its environment."""
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.service(name)["command"],
                env=self.environment(name, **more),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self, name: str) -> None:
        """Stop a service and whatever it has started."""
        stop_process(self.running.pop(name))

    def run(self, name: str, *command: str, **more: str) -> str:
        """Run another command, or the service's own, to its end in the service's environment; its output."""
        done = subprocess.run(
            command or self.service(name)["command"],
            env=self.environment(name, **more),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{name} {command}: {done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def is_healthy(self, name: str) -> bool:
        """What the service's own health check says."""
        kind, *command = self.service(name)["healthcheck"]["test"]
        command = ["bash", "-c", *command] if kind == "CMD-SHELL" else command
        done = subprocess.run(command, env=self.environment(name), cwd=ROOT, capture_output=True, timeout=60, check=False)  # fmt: skip
        return done.returncode == 0

    def await_healthy(self, *names: str, seconds: float = 120.0) -> None:
        """Wait until the services' health checks pass."""
        deadline = time.monotonic() + seconds
        for name in names:
            while not self.is_healthy(name):
                late = time.monotonic() > deadline or self.running[name].poll() is not None
                assert not late, f"{name}: {(self.folder / f'{name}.log').read_text('utf-8', 'replace')[-4000:]}"
                time.sleep(0.3)

    def _placed(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._placed(item) for key, item in value.items()}
            case list():
                return [self._placed(item) for item in value]
            case str():
                return self._text(value)
        return value

    def _text(self, text: str) -> str:
        if text == API.partition(":")[2]:
            return str(self.ports[API])
        text = VARIABLE.sub(self._variable, text).replace("$$", "$")
        for old, new in self._places():
            text = text.replace(old, new)
        return text

    def _variable(self, found: re.Match[str]) -> str:
        # As Compose: a variable that is asked for with `:?` must be there.
        return self.variables[found[1]] if found[2] is None else self.variables.get(found[1], found[2])

    def _places(self) -> Iterator[tuple[str, str]]:
        for address, port in self.ports.items():
            yield address, f"{HERE}:{port}"
        yield '"sc://spark-connect", "port": 15002', f'"sc://{HERE}", "port": {self.ports[CONNECT]}'
        yield "http://localhost:8080", f"http://{HERE}:{self.ports[API]}"
        yield "@postgres/", f"@{HERE}:{self.database_port}/"
        yield from ((name, HERE) for name in SPARK_HOSTS)
        yield "/opt/ivm/docker/ivm.toml", str(self.folder / "ivm.toml")
        yield "/opt/ivm/sql", str(self.folder / "sql")
        yield "/opt/ivm", str(ROOT)
        yield "/lake", str(self.folder / "lake")


@contextmanager
def stopping(compose: Compose) -> Iterator[Compose]:
    """Stop what runs at the end, newest first, however the block ends."""
    try:
        yield compose
    finally:
        for process in compose.running.values():
            process.terminate()
        for name in reversed(tuple(compose.running)):
            compose.stop(name)
