"""The schema from nothing, from an older one, and the refusal of a newer one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Engine, Integer, MetaData, Table, inspect, select

from ivm_core.catalog import tables
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.connect import make_engine, parse_url
from ivm_core.catalog.migrate import HEAD, SCRIPTS, current_revision, migrate
from ivm_core.errors import CatalogError
from tests.catalog.records import view

NEXT = """
import sqlalchemy as sa
from alembic import op
revision = "9999"
down_revision = "0001"
def upgrade():
    with op.batch_alter_table("ivm_views") as views:
        views.add_column(sa.Column("owner", sa.String))
{failure}
"""


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    opened = make_engine(parse_url(url))
    yield opened
    opened.dispose()


def scripts(tmp_path: Path, failure: str = "") -> Path:
    """The packaged migrations with one more: those of a later version of the package."""
    folder = tmp_path / "later 100%"
    shutil.copytree(SCRIPTS, folder, dirs_exist_ok=True)
    (folder / "versions/v9999_next.py").write_text(NEXT.format(failure=failure))
    return folder


def test_head_is_the_newest_file() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]


def test_migrations_make_the_tables_that_the_code_uses(engine: Engine) -> None:
    migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": tables.VERSION_TABLE})
        assert compare_metadata(context, tables.metadata) == []
        assert current_revision(connection) == HEAD
        for table in tables.metadata.sorted_tables:
            made = {index["name"]: bool(index["unique"]) for index in inspect(connection).get_indexes(table.name)}
            assert made == {index.name: bool(index.unique) for index in table.indexes}


def test_an_older_catalogue_is_upgraded_and_then_refused_by_the_older_package(
    url: str, engine: Engine, tmp_path: Path
) -> None:
    with Catalog.open(url) as catalog:
        catalog.add_view(view("gold.v"))
    migrate(engine, scripts(tmp_path), "9999")
    with engine.connect() as connection:
        assert current_revision(connection) == "9999"
        assert "owner" in {column["name"] for column in inspect(connection).get_columns("ivm_views")}
        assert connection.execute(select(tables.views.c.name)).scalar() == "gold.v"
    with pytest.raises(CatalogError, match=r"has schema 9999, which .* does not know: a newer one .* Upgrade ivm-core"):
        Catalog.open(url)
    with engine.connect() as connection:
        assert current_revision(connection) == "9999"


def test_a_failed_upgrade_changes_nothing(url: str, engine: Engine, tmp_path: Path) -> None:
    Catalog.open(url).close()
    with pytest.raises(ZeroDivisionError):
        migrate(engine, scripts(tmp_path, failure="    1 / 0"), "9999")
    with engine.connect() as connection:
        assert current_revision(connection) == HEAD
        assert "owner" not in {column["name"] for column in inspect(connection).get_columns("ivm_views")}
    Catalog.open(url).close()


def test_there_is_no_way_back(url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    for script in ScriptDirectory.from_config(config).walk_revisions():
        with pytest.raises(RuntimeError, match="restore a backup"):
            script.module.downgrade()


def test_a_database_shared_with_another_application_is_left_alone(engine: Engine) -> None:
    """Airflow's own tables may be in it, with Alembic's usual version table."""
    others = MetaData()
    Table("alembic_version", others, Column("version_num", Integer))
    Table("views", others, Column("id", Integer))
    others.create_all(engine)
    migrate(engine)
    with engine.connect() as connection:
        names = set(inspect(connection).get_table_names())
    assert names == {"alembic_version", "views", tables.VERSION_TABLE, *tables.metadata.tables}
