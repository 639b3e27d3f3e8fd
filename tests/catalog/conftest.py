"""Catalogues to test on: a SQLite file, and databases of a private PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ivm_core.catalog.catalog import Catalog
from tests.postgres import postgres

__all__ = ["postgres"]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/catalog.db"
    return str(request.getfixturevalue("postgres").create_schema())


@pytest.fixture
def catalog(url: str) -> Iterator[Catalog]:
    """An open, empty catalogue of either kind."""
    with Catalog.open(url) as opened:
        yield opened
