"""The files of the TPC-H project, and the generated rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import tpch_data
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.definition_table import parse_table
from tests.bench.conftest import SCALE

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
