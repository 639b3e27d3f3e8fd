"""Catalogues that cannot be opened: CatalogError says which and what to do, and never holds a password."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import traceback
from pathlib import Path

import pytest

from ivm_core.catalog.catalog import Catalog
from ivm_core.errors import CatalogError
from tests.catalog.records import view
from tests.postgres import ENCODED, PASSWORD, Server


def refuse(url: str, message: str) -> None:
    """Opening fails with a CatalogError like ``message``, in one paragraph."""
    with pytest.raises(CatalogError, match=message) as caught:
        Catalog.open(url)
    shown = "".join(traceback.format_exception(caught.value))
    for secret in (PASSWORD, ENCODED, "s3cret"):
        assert secret not in shown
        assert secret not in repr(caught.value)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 7


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_memory_is_refused(url: str) -> None:
    refuse(url, "forget the views")


@pytest.mark.parametrize("url", ["", "catalog.db", "postgresql//u:s3cret@h/d", "postgresql://u:s3cret@h:port/d"])
def test_what_is_no_url_is_refused(url: str) -> None:
    refuse(url, r"cannot be read: write sqlite:///path")


def test_other_databases_are_refused() -> None:
    refuse("mysql://u:s3cret@h/d", r"mysql://u:\*\*\*@h/d names the database mysql")


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_text("not a database, and long enough to be looked at" * 100)
    refuse(f"sqlite:///{tmp_path}/c.db", "file is not a database. Point `catalog` to another file")


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refuse(f"sqlite:///{tmp_path}/file/c.db", "Check that the file and its folder can be written")
    refuse(f"sqlite:///{tmp_path}", "unable to open database file")


def test_a_locked_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ivm_core.catalog.connect.BUSY_SECONDS", 0.1)
    url = f"sqlite:///{tmp_path}/c.db"
    with Catalog.open(url) as catalog:
        other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            assert catalog.views() == ()  # readers go on
            with pytest.raises(CatalogError, match=r"database is locked\. Another process"):
                catalog.add_view(view("gold.v"))
        finally:
            other.close()
        catalog.add_view(view("gold.v"))


def test_sqlite_is_durable_and_lets_readers_go_on(tmp_path: Path) -> None:
    with Catalog.open(f"sqlite:///{tmp_path}/c.db") as catalog, catalog._engine.connect() as connection:
        pragmas = ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        values = [connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() for pragma in pragmas]
        assert values == ["wal", 1, 2, 30_000]


def test_one_file_has_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks stand beside the file, whichever way it is named."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.chdir(tmp_path)
    with Catalog.open("sqlite:///real/c.db") as first, Catalog.open("sqlite:///link/c.db") as second:
        os.chdir("/")
        with first.lock("gold.v"), second.lock("gold.v") as held:
            assert not held
        assert first.add_view(view("gold.v")) == second.view("gold.v")


def test_a_server_that_is_not_there_is_reported() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://ivm:s3cret@127.0.0.1:{free.getsockname()[1]}/ivm"
    refuse(url, r"postgresql\+psycopg://ivm:\*\*\*@127.* Check that the server runs")


def test_a_wrong_password_is_reported(postgres: Server) -> None:
    refuse(postgres.url("postgres", password="s3cret"), "Check the user and password")


def test_a_missing_database_is_reported(postgres: Server) -> None:
    refuse(postgres.url("absent"), 'database "absent" does not exist')


def test_a_password_is_in_no_text(postgres: Server) -> None:
    for url in (postgres.create_database(), postgres.create_database().replace("postgresql:", "postgres:")):
        with Catalog.open(url) as catalog:
            for text in (repr(catalog), str(catalog), catalog.safe_url):
                assert PASSWORD not in text
                assert ENCODED not in text
                assert "ivm:***@127.0.0.1" in text


def test_two_deployments_share_a_database(postgres: Server) -> None:
    """A schema each: neither the views nor the locks are shared."""
    with Catalog.open(postgres.create_schema()) as first, Catalog.open(postgres.create_schema()) as second:
        first.add_view(view("gold.v"))
        assert second.views() == ()
        with first.lock("gold.v"), second.lock("gold.v") as held:
            assert held


def test_a_lost_server_is_reported_by_every_method(postgres: Server) -> None:
    """The database vanishes under an open catalogue."""
    import psycopg

    url = postgres.create_database()
    name = url.rpartition("/")[2]
    with Catalog.open(url) as catalog:
        catalog.add_view(view("gold.v"))
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        with pytest.raises(CatalogError, match=re.escape("ivm:***@")):
            catalog.views()
        with pytest.raises(CatalogError, match=re.escape("ivm:***@")), catalog.lock("gold.v"):
            pass
