"""A real Airflow API server with the page: its own database, the groups' DAGs, and four people to log in as."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from ivm_core.engine.connect_server import free_port

from .conftest import airflow_environment

# Airflow's own roles, from the least to the most.
PEOPLE = {"vera": "viewer", "uma": "user", "otto": "op", "ada": "admin"}
FAB = "airflow.providers.fab.auth_manager.fab_auth_manager.FabAuthManager"  # as in docker-compose.yaml
FAB_PEOPLE = {"pat": "Public", "vera": "Viewer", "uma": "User", "ada": "Admin"}
START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Server:
    """A running API server; ``passwords`` by name."""

    url: str
    passwords: dict[str, str]

    def client(self, name: str | None = None) -> httpx.Client:
        """Somebody with the cookie that Airflow's login sets; None: nobody is logged in."""
        client = httpx.Client(base_url=self.url, timeout=60)
        if name is not None:
            answer = client.post("/auth/token", json={"username": name, "password": self.passwords[name]})
            client.cookies.set("_token", answer.json()["access_token"])
        return client


@contextmanager
def serve(home: Path, settings: Path, *, fab: bool = False) -> Iterator[Server]:
    """Run the server for the deployment of ``settings`` until the block ends; ``fab``: with users in its database."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    passwords = {name: f"p{secrets.token_urlsafe(12)}" for name in {**PEOPLE, **FAB_PEOPLE}}
    home.mkdir(parents=True, exist_ok=True)
    (home / "passwords.json").write_text(json.dumps(passwords), "utf-8")
    environment = {
        **airflow_environment(home),
        "IVM_SETTINGS": str(settings),
        "AIRFLOW__API__BASE_URL": url,
        "AIRFLOW__API__SECRET_KEY": secrets.token_hex(16),
        "AIRFLOW__API_AUTH__JWT_SECRET": secrets.token_hex(32),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{name}:{role}" for name, role in PEOPLE.items()),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "NO_PROXY": "127.0.0.1",
    }
    commands = [("db", "migrate"), ("dags", "reserialize")]
    if fab:
        environment["AIRFLOW__CORE__AUTH_MANAGER"] = FAB
        commands += [_new_user(name, role, passwords[name]) for name, role in FAB_PEOPLE.items()]
    for arguments in commands:
        command = [sys.executable, "-m", "airflow", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    command = [sys.executable, "-m", "airflow", "api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]  # fmt: skip
    with (home / "api-server.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            _await(url, process, home / "api-server.log")
            yield Server(url, passwords)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def _new_user(name: str, role: str, password: str) -> tuple[str, ...]:
    named = ("--username", name, "--firstname", name, "--lastname", name, "--email", f"{name}@example.org")
    return ("users", "create", *named, "--role", role, "--password", password)


def _await(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/api/v2/version", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.3)
    raise AssertionError(f"the API server did not start: {log.read_text('utf-8', 'replace')[-4000:]}")
