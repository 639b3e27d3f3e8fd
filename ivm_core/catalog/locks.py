"""Mutual exclusion between processes that ends when its holder does, however it ends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from ivm_core.catalog.connect import SESSION, translated
from ivm_core.catalog.migrate import lock_key

# The server must neither end an idle holder, or one that waits, nor wait hours for one whose host is gone.
HOLDER = {
    "statement_timeout": "0",
    "transaction_timeout": "0",
    "idle_session_timeout": "0",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
}
LOCK_NOT_AVAILABLE = "55P03"


@contextmanager
def lock(engine: Engine, name: str, wait_seconds: float) -> Iterator[bool]:
    """Hold ``name`` inside the block; yields False where another holder kept it for ``wait_seconds``.

    The holder's death frees it: SQLite's is a lock on a file in ``<database>.locks``, which the kernel drops,
    PostgreSQL's an advisory lock of a session of its own, which the server drops. Threads exclude each other too.
    """
    kind = _lock_file if engine.dialect.name == "sqlite" else _lock_session
    with kind(engine, name, wait_seconds) as acquired:
        yield acquired


@contextmanager
def _lock_file(engine: Engine, name: str, wait_seconds: float) -> Iterator[bool]:
    folder = Path(f"{engine.url.database}.locks")
    # A name may hold anything; a digest of it is always one file of that folder.
    file = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.lock"
    with translated(engine.url):
        folder.mkdir(parents=True, exist_ok=True)
        handle = FileLock(file, timeout=max(wait_seconds, 0))
        try:
            handle.acquire()
            acquired = True
        except Timeout:
            acquired = False
    try:
        yield acquired
    finally:
        if acquired:
            handle.release()


@contextmanager
def _lock_session(engine: Engine, name: str, wait_seconds: float) -> Iterator[bool]:
    # Not from the pool: a session that is given back lives on, and its locks with it.
    own = create_engine(
        engine.url, poolclass=NullPool, isolation_level="AUTOCOMMIT", hide_parameters=True, connect_args=SESSION
    )
    with translated(engine.url):
        connection = own.connect()
    try:
        with translated(engine.url):
            # The server's locks are the whole database's; two deployments may use a schema of it each.
            schema = connection.execute(text("SELECT current_schema()")).scalar()
            acquired = _acquire(connection, lock_key(f"view:{schema}:{name}"), wait_seconds)
        yield acquired
    finally:
        connection.close()


def _acquire(connection: Connection, key: int, wait_seconds: float) -> bool:
    for name, value in HOLDER.items():
        # From pg_settings, so that a server which does not have the setting goes without.
        setting = text("SELECT set_config(name, :value, false) FROM pg_settings WHERE name = :name")
        connection.execute(setting, {"name": name, "value": value})
    if connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": key}).scalar():
        return True
    if wait_seconds <= 0:
        return False
    wait = text("SELECT set_config('lock_timeout', :milliseconds, false)")
    connection.execute(wait, {"milliseconds": str(max(int(wait_seconds * 1000), 1))})
    try:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != LOCK_NOT_AVAILABLE:
            raise
        return False
    return True
