"""The generated and loaded tables: their sizes, declared keys and properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import tpch_data
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.definition_table import parse_table
from tests.bench.conftest import SCALE, Database

DEFINITIONS = {
    table: parse_table((tpch_data.SQL_FOLDER / "tables" / f"{table}.sql").read_text()) for table in tpch_data.TABLES
}
VIEWS = sorted((tpch_data.SQL_FOLDER / "views").glob("*.sql"))


def test_every_table_has_a_file_and_the_other_way_round() -> None:
    files = {file.stem for file in (tpch_data.SQL_FOLDER / "tables").glob("*.sql")}
    assert files == set(tpch_data.TABLES)
    assert all(definition.name == f"tpch.{table}" for table, definition in DEFINITIONS.items())


@pytest.mark.parametrize("file", VIEWS, ids=lambda file: file.stem)
def test_view_file_holds_the_view_of_its_name(file: Path) -> None:
    definition = parse_definition(file.read_text("utf-8"))
    assert definition.name == f"tpch.{file.stem}"
    assert definition.group == "tpch" and definition.schedule == "0 * * * *" and definition.comment


def test_the_views_that_the_project_promises_are_there() -> None:
    found = {file.stem.partition("_")[0] for file in VIEWS}
    assert found >= {"q01", "q03", "q05", "q06", "q07", "q08", "q09", "q10", "q12", "q14", "q19"}


def test_generated_data_is_kept(tpch_folder: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in tpch_folder.rglob("*.parquet")}
    seen: list[str] = []
    assert tpch_data.generate(SCALE, tpch_folder.parent, seen.append) == tpch_folder
    assert {file: file.stat().st_mtime_ns for file in tpch_folder.rglob("*.parquet")} == before
    assert seen == list(tpch_data.TABLES)
    assert [entry.name for entry in tpch_folder.parent.iterdir()] == [tpch_folder.name], "no draft is left behind"


@pytest.mark.spark
@pytest.mark.parametrize("table", tpch_data.TABLES)
def test_table_has_its_rows_and_a_unique_key(database: Database, table: str) -> None:
    loaded = database.at("loaded", table)
    expected = tpch_data.expected_rows(table, SCALE)
    rows = loaded.count()
    assert rows == pytest.approx(expected, rel=0.01) if table == "lineitem" else rows == expected
    key = DEFINITIONS[table].schema.primary_key
    assert loaded.select(*key).distinct().count() == rows


@pytest.mark.spark
@pytest.mark.parametrize("table", tpch_data.TABLES)
def test_table_records_its_changes(database: Database, table: str) -> None:
    detail = database.spark.sql(f"DESCRIBE DETAIL tpch.{table}").collect()[0]
    assert detail["properties"]["delta.enableChangeDataFeed"] == "true"


@pytest.mark.spark
@pytest.mark.parametrize("step", [pytest.param("loaded", marks=pytest.mark.slow), "updated"])
def test_declared_foreign_keys_hold(database: Database, step: str) -> None:
    for table, definition in DEFINITIONS.items():
        for key in definition.schema.foreign_keys:
            parent = key.table.rpartition(".")[2]
            wanted = database.at(step, table).select(*key.columns).distinct()
            known = database.at(step, parent).select(*key.referenced)
            assert wanted.exceptAll(known).count() == 0, f"{table} {key} after {step}"
