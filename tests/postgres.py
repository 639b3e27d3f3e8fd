"""A private PostgreSQL server for tests, as long as the run; use it by ``from tests.postgres import postgres``."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

PASSWORD = "p@ss/w:rd?" + secrets.token_hex(4)
ENCODED = PASSWORD.replace("@", "%40").replace("/", "%2F").replace(":", "%3A").replace("?", "%3F")


class Server:
    """A PostgreSQL cluster in a temporary folder, on a free loopback port, with password authentication."""

    def __init__(self, binaries: Path) -> None:
        self.binaries = binaries
        # initdb refuses to run as root.
        self.user = pwd.getpwnam("postgres").pw_name if os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(prefix="ivm-pg-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        if self.user:
            for path in (self.folder, secret):
                shutil.chown(path, self.user)
        self._run(
            "initdb", "-D", f"{self.folder}/data", "-U", "ivm", "--auth=scram-sha-256", f"--pwfile={secret}", "-N"
        )
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self.folder} -c fsync=off -c max_connections=60"
        self._run("pg_ctl", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log", "-w", "-o", options, "start")

    def stop(self) -> None:
        if (self.folder / "data/postmaster.pid").exists():
            self._run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        login = ["runuser", "-u", self.user, "--"] if self.user else []
        command = [*login, str(self.binaries / program), *arguments]
        # The server inherits the output: a pipe would never end.
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=120)

    def url(self, database: str, user: str = "ivm", password: str = ENCODED) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def create_database(self) -> str:
        """A new, empty database; its URL."""
        name = f"ivm_{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def create_schema(self) -> str:
        """A new, empty schema of one database, much faster than a database; its URL."""
        name = f"ivm_{secrets.token_hex(6)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{name}"')
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"


def find_binaries() -> Path | None:
    """The folder of initdb and pg_ctl: on PATH, or the newest of Debian's."""
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running server; skipped where PostgreSQL is not installed, except in CI, where that is a failure."""
    binaries = find_binaries()
    if binaries is None:
        message = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    server = Server(binaries)
    try:
        server.start()
        yield server
    finally:
        server.stop()
