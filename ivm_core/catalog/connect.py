"""From a URL to a SQLAlchemy engine: SQLite or PostgreSQL, with errors that name the masked URL and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from ivm_core.errors import CatalogError
from ivm_core.settings import mask_url

BUSY_SECONDS = 30
# PostgreSQL's; a server that vanishes is noticed in a minute instead of hours.
SESSION = {
    "application_name": "ivm",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


def parse_url(url: str) -> URL:
    """The URL with the driver that the package uses; ``postgresql://`` and ``postgres://`` mean psycopg 3."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise CatalogError(
            f"The catalogue's URL {mask_url(url)} cannot be read: write sqlite:///path or "
            "postgresql://user:password@host:port/database, with special characters of the password percent-encoded."
        ) from None
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        if not parsed.database or parsed.database == ":memory:" or parsed.database.startswith("file:"):
            raise CatalogError(
                f"The catalogue {mask_url(url)} names no file, and one in memory would forget the views at exit: "
                "write sqlite:///path."
            )
        # One name for the file, so that all processes find the same locks beside it.
        return parsed.set(drivername="sqlite+pysqlite", database=str(Path(parsed.database).expanduser().resolve()))
    raise CatalogError(
        f"The catalogue's URL {mask_url(url)} names the database {parsed.drivername}: use sqlite:///path or postgresql://…"
    )


def make_engine(url: URL) -> Engine:
    """An engine for a parsed URL. Nothing is connected yet; a SQLite file's folder is created."""
    if url.get_backend_name() == "sqlite":
        return _make_sqlite_engine(url)
    with translated(url):
        return create_engine(url, hide_parameters=True, pool_pre_ping=True, pool_size=2, connect_args=SESSION)


def _make_sqlite_engine(url: URL) -> Engine:
    with translated(url):
        Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: ConnectionPoolEntry) -> None:
        # Transactions begin where SQLAlchemy says so, with the statement below, not where the driver guesses.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        # An intent must survive a power cut as surely as the Delta commit that follows it.
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A reader that turns writer fails at once when another writer was first; one that says so at the start waits.
        immediate = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Turn the database's errors into CatalogError; the original is not chained, for it may quote the URL."""
    try:
        yield
    except SQLAlchemyError as error:
        original = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        problem = _without_secrets(url, str(original).strip().partition("\n")[0])
    except ImportError:
        problem = "its driver is not installed (pip install 'psycopg[binary]')"
    except OSError as error:
        problem = f"{error.strerror}: {error.filename}" if error.filename else str(error)
    else:
        return
    shown = mask_url(url.render_as_string(hide_password=False))
    raise CatalogError(f"The catalogue {shown} failed: {problem}. {_advice(url, problem)}") from None


def _without_secrets(url: URL, text: str) -> str:
    secrets = [url.password, *(value for name, value in url.query.items() if "pass" in name.lower())]
    for secret in secrets:
        if isinstance(secret, str) and secret:
            text = text.replace(secret, "***")
    return text


def _advice(url: URL, problem: str) -> str:
    if url.get_backend_name() == "sqlite":
        if "locked" in problem:
            return f"Another process held it for over {BUSY_SECONDS} seconds: wait for it, or use PostgreSQL."
        if "not a database" in problem or "malformed" in problem:
            return "Point `catalog` to another file, or restore this one from a backup."
        return "Check that the file and its folder can be written and that the disk has space."
    if "authentication" in problem or "password" in problem or "role" in problem:
        return "Check the user and password in `catalog` (IVM_CATALOG)."
    return "Check that the server runs, that `catalog` (IVM_CATALOG) names it and that the user may use the database."
