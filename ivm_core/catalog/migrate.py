"""Bring the database to the newest schema, or refuse one that a newer version of the package has made."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.sql import column, select, table

from ivm_core.catalog.tables import VERSION_TABLE
from ivm_core.errors import CatalogError
from ivm_core.settings import mask_url

HEAD = "0001"  # the newest file in migrations/versions
SCRIPTS = Path(__file__).parent / "migrations"
ALEMBIC = threading.Lock()  # it keeps the running migration in a global


def migrate(engine: Engine, scripts: Path = SCRIPTS, head: str = HEAD) -> None:
    """Upgrade to ``head`` in one transaction, safe against other processes doing the same.

    Raises CatalogError where the database is at a revision that ``scripts`` do not have.
    """
    with engine.connect() as connection:
        if current_revision(connection) == head:
            return
    with _exclusive(engine) as connection:
        current = current_revision(connection)
        if current != head:
            _upgrade(connection, current, scripts)


def current_revision(connection: Connection) -> str | None:
    """The revision the database is at, None where the catalogue's tables do not exist."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(select(column("version_num")).select_from(table(VERSION_TABLE))).scalar()


def _upgrade(connection: Connection, current: str | None, scripts: Path) -> None:
    # Imported here: opening an up-to-date catalogue, the usual case, is spared a second of imports.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if current is not None and current not in known:
        url = mask_url(connection.engine.url.render_as_string(hide_password=False))
        raise CatalogError(
            f"The catalogue {url} has schema {current}, which this version of ivm-core does not know: a newer one made "
            "it. Upgrade ivm-core here; a catalogue is not taken back to an older schema."
        )
    config.attributes["connection"] = connection
    with ALEMBIC:
        command.upgrade(config, "head")


@contextmanager
def _exclusive(engine: Engine) -> Iterator[Connection]:
    """A transaction that no other process migrates beside."""
    writing = engine.execution_options(writes=True)
    if engine.dialect.name != "sqlite":
        with writing.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": lock_key("migrate")})
            yield connection
        return
    database = str(engine.url.database)
    # Changing the journal mode needs the file alone, outside a transaction, and does not wait for others.
    with FileLock(f"{database}.open.lock"):
        raw = engine.raw_connection()
        try:
            raw.cursor().execute("PRAGMA journal_mode = WAL").fetchall()
        finally:
            raw.close()
        with writing.begin() as connection:
            yield connection


def lock_key(name: str) -> int:
    """A signed 64-bit number for PostgreSQL's advisory locks, the same in every process."""
    return int.from_bytes(hashlib.sha256(f"ivm:{name}".encode()).digest()[:8], signed=True)
