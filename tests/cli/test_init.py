"""What ``ivm init`` writes, and that it never overwrites."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ivm_core import Engine
from ivm_core.cli import main
from ivm_core.plan.definition import parse_definition, parse_table
from ivm_core.settings import Settings
from tests.cli.conftest import Run


def test_project_is_written_whole(run: Run, folder: Path) -> None:
    result = run("init", "new/shop", "--json")
    assert result.code == 0
    written = sorted(
        path.relative_to(folder / "new/shop").as_posix() for path in (folder / "new/shop").rglob("*") if path.is_file()
    )
    assert sorted(result.json["files"]) == written
    assert {".gitignore", "README.md", "changes.py", "ivm.toml"} <= set(written)
    assert "cd other && ivm apply" in run("init", "other").out
    assert "cd 'my shop' && ivm apply" in run("init", "my shop").out


def test_settings_and_definitions_are_valid(run: Run, folder: Path) -> None:
    run("init")
    tomllib.loads(Path("ivm.toml").read_text(encoding="utf-8"))
    settings = Settings.load()
    assert settings.project_dir() == folder / "sql" / "shop"
    tables = [
        parse_table(path.read_text(encoding="utf-8")) for path in sorted(settings.project_dir().glob("tables/*.sql"))
    ]
    assert [table.name for table in tables] == ["shop.customers", "shop.orders"]
    views = [
        parse_definition(path.read_text(encoding="utf-8"))
        for path in sorted(settings.project_dir().glob("views/*.sql"))
    ]
    assert [view.name for view in views] == [
        "shop.large_countries",
        "shop.orders_with_customer",
        "shop.revenue_by_country",
    ]
    assert len({view.group for view in views}) == 1


def test_nothing_is_overwritten(run: Run, folder: Path) -> None:
    Path("ivm.toml").write_text("mine", encoding="utf-8")
    result = run("init")
    assert result.code == 8 and "ivm.toml" in result.paragraph
    assert [path.name for path in folder.iterdir()] == ["ivm.toml"]
    assert Path("ivm.toml").read_text(encoding="utf-8") == "mine"
    assert run("init", "ivm.toml").code == 8


@pytest.mark.spark
def test_the_example_data_runs_and_the_views_follow(spark: SparkSession, tmp_path: Path) -> None:
    assert main(["init", str(tmp_path)]) == 0
    changes = runpy.run_path(str(tmp_path / "changes.py"))
    try:
        with Engine.open(spark=spark, settings=tmp_path / "ivm.toml") as engine:
            engine.apply()
            # The last statements are those of every later call.
            for statements in (changes["FIRST"], changes["LATER"], changes["LATER"]):
                for statement in statements:
                    spark.sql(statement).collect()
                reports = engine.maintain()
                assert any(report.rows_changed for report in reports), statements
            assert all(engine.validate(report.view).ok for report in reports)
            assert spark.table("shop.orders").count() == 50
    finally:
        spark.sql("DROP SCHEMA IF EXISTS shop CASCADE").collect()
