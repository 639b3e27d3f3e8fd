"""Bad input against a real deployment: one paragraph, the documented exit code, and the state as it was."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ivm_core import Engine
from ivm_core.cli import main
from ivm_core.engine.session import open_session
from tests.cli.conftest import Run

pytestmark = pytest.mark.spark

SELECT = "SELECT id, amount FROM shop.orders"
# Spark goes on with a comment whose line ends in a backslash, and finds an INSERT where sqlglot finds one more comment.
HIDDEN_INSERT = (
    "WITH a AS (SELECT 7L AS id) -- \\\nSELECT id FROM a /*\n"
    "INSERT INTO shop.customers SELECT id, 'Eve', 'XX' FROM a -- */"
)


def view(name: str = "shop.bad", query: str = SELECT, clauses: str = "") -> str:
    return f"CREATE INCREMENTAL MATERIALIZED VIEW {name} {clauses} AS {query}"


BAD_VIEWS = {
    "empty": ("", "DEFINITION"),
    "comment only": ("-- nothing here", "DEFINITION"),
    "no SQL": ("😀 \x00 ]]", "DEFINITION"),
    "broken": (view(query="SELECT FROM WHERE"), "DEFINITION"),
    "unclosed": (view(query="SELECT (id FROM shop.orders"), "DEFINITION"),
    "unclosed quote": (view(query="SELECT 'id FROM shop.orders"), "DEFINITION"),
    "two statements": (view() + "; " + view("shop.other"), "DEFINITION"),
    "hidden statement": (view() + "; DROP TABLE shop.orders", "DEFINITION"),
    "statement hidden by comments": (view(query=HIDDEN_INSERT), "DEFINITION"),
    "not a query": (view(query="DELETE FROM shop.orders"), "DEFINITION"),
    "same column twice": (view(query="SELECT id, amount AS id FROM shop.orders"), "DEFINITION"),
    "same column twice by case": (view(query="SELECT id, amount AS ID FROM shop.orders"), "DEFINITION"),
    "wrong policy": (view(clauses="TBLPROPERTIES ('ivm.refresh_policy' = 'sometimes')"), "DEFINITION"),
    "wrong property": (view(clauses="TBLPROPERTIES ('ivm.refesh_policy' = 'auto')"), "DEFINITION"),
    "wrong interval": (view(clauses="TBLPROPERTIES ('ivm.validate_every' = 'often')"), "DEFINITION"),
    "wrong cron": (view(clauses="SCHEDULE CRON '61 * * * *'"), "DEFINITION"),
    "wrong group": (view(clauses="GROUP `../../x`"), "DEFINITION"),
    "unknown clause": (view(clauses="LOCATION '/etc'"), "DEFINITION"),
    "unknown table": (view(query="SELECT id FROM shop.odrers"), "UNKNOWN_TABLE"),
    "unknown schema": (view(query="SELECT id FROM nosuch.orders"), "UNKNOWN_TABLE"),
    "itself": (view(query="SELECT id FROM shop.bad"), None),
    "unknown column": (view(query="SELECT idd FROM shop.orders"), "UNKNOWN_COLUMN"),
    "unknown qualifier": (view(query="SELECT x.id FROM shop.orders AS o"), "UNKNOWN_COLUMN"),
    "ambiguous column": (view(query="SELECT id FROM shop.orders JOIN shop.customers ON customer_id = name"), None),
    "path traversal": (view("shop.`../../../etc/passwd`"), "INVALID_NAME"),
    "path traversal in schema": (view("`..`.v"), "INVALID_NAME"),
    "backslash": (view("shop.`..\\\\x`"), "INVALID_NAME"),
    "dot in name": (view("shop.`a.b`"), "INVALID_NAME"),
    "three parts": (view("a.b.c"), "INVALID_NAME"),
    "control character": (view("shop.`a\nb`"), "INVALID_NAME"),
    "empty name": (view("shop.``"), None),
    "long name": (view(f"shop.{'x' * 300}"), "INVALID_NAME"),
    "hidden view name": (view("shop.__ivm_state_v"), "INVALID_NAME"),
    "hidden column": (view(query="SELECT id, amount AS __ivm_weight FROM shop.orders"), "INVALID_NAME"),
    "hidden column by case": (view(query="SELECT id, amount AS __IVM_Count FROM shop.orders"), "INVALID_NAME"),
    "name of a table": (view("shop.orders", "SELECT id FROM shop.customers"), "INVALID_NAME"),
    "file as table": (view(query="SELECT * FROM delta.`/etc`"), None),
    "rand": (view(query="SELECT id, rand() AS r FROM shop.orders"), "NONDETERMINISTIC"),
    "uuid in a filter": (view(query="SELECT id FROM shop.orders WHERE uuid() > 'a'"), "NONDETERMINISTIC"),
    "user": (view(query="SELECT id, current_user() AS u FROM shop.orders"), "NONDETERMINISTIC"),
    "clock": (view(query="SELECT id FROM shop.orders WHERE ordered_on < date 'today'"), "NONDETERMINISTIC"),
    "partition id": (view(query="SELECT spark_partition_id() AS p FROM shop.orders"), "NONDETERMINISTIC"),
    "java method": (view(query="SELECT java_method('java.lang.System', 'exit', 1) AS x FROM shop.orders"), None),
    "java method in backquotes": (view(query="SELECT id, `reflect`('java.lang.System', 'getenv', 'HOME') AS x FROM shop.orders"), "UNSUPPORTED_CONSTRUCT"),
    "time in a schema of Spark's": (view(query="SELECT id, builtin.current_date() AS x FROM shop.orders"), "UNSUPPORTED_CONSTRUCT"),
    "wrong types": (view(query="SELECT id FROM shop.orders WHERE ordered_on + true > name"), None),
}  # fmt: skip
# Where several codes are apt: any of those for a wrong definition will do.


@pytest.fixture(scope="module")
def deployment(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The example project, applied and filled, on the tests' own Spark session."""
    root = tmp_path_factory.mktemp("bad input") / "a folder with späces"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ivm_core.engine.session.open_session", lambda settings: spark)
        assert main(["init", str(root)]) == 0
        assert main(["apply", "--settings", str(root)]) == 0
        spark.sql("INSERT INTO shop.customers VALUES (1, 'Ada', 'UK')").collect()
        spark.sql("INSERT INTO shop.orders VALUES (1, 1, DATE'2026-01-01', 10.00)").collect()
        assert main(["maintain", "--settings", str(root)]) == 0
        yield root
    spark.sql("DROP SCHEMA shop CASCADE").collect()


def state(root: Path) -> tuple[object, ...]:
    """All that must not change: files of the project and the warehouse, manifest, and the catalogue's rows."""
    files = {
        str(path.relative_to(root)): path.stat().st_size
        for path in root.rglob("*")
        if path.is_file() and "catalog.db" not in path.name and ".crc" not in path.name and path.suffix != ".lock"
    }
    with sqlite3.connect(root / ".ivm" / "catalog.db") as database:
        names = [
            name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        ]
        rows = {name: database.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}
    beside = sorted(path.name for path in root.parent.iterdir())
    return files, rows, (root / ".ivm" / "manifest.json").read_text(encoding="utf-8"), beside


@pytest.mark.parametrize(("sql", "code"), BAD_VIEWS.values(), ids=BAD_VIEWS.keys())
def test_bad_view(run: Run, deployment: Path, sql: str, code: str | None) -> None:
    file = deployment / "sql" / "shop" / "views" / "zz_bad.sql"
    before = state(deployment)
    file.write_text(sql, encoding="utf-8")
    try:
        result = run("apply", "--settings", str(deployment))
        described = run("apply", "--settings", str(deployment), "--json")
        explained = run("explain", str(file), "--settings", str(deployment))
    finally:
        file.unlink()
    assert result.code == 2 and result.paragraph
    error = described.json["error"]
    assert error["code"] == code if code else error["code"] in ("DEFINITION", "UNKNOWN_TABLE", "UNKNOWN_COLUMN",
        "INVALID_NAME", "UNSUPPORTED_CONSTRUCT", "NONDETERMINISTIC")  # fmt: skip
    assert "zz_bad.sql" in error["message"]
    assert explained.code == 2 and explained.paragraph
    assert state(deployment) == before


@pytest.mark.parametrize(
    "name", ['it\'s "quoted"', "two words", "größe", "😀", "a`b", "semi;colon", "per%cent", "da-sh", "$x", "select"]
)
def test_odd_names_work_or_are_refused(run: Run, deployment: Path, name: str) -> None:
    file = deployment / "sql" / "shop" / "views" / "zz_odd.sql"
    before = state(deployment)
    file.write_text(
        view(f"shop.`{name.replace('`', '``')}`", f"SELECT id, amount AS `{name.replace('`', '``')}` FROM shop.orders"),
        encoding="utf-8",
    )
    try:
        result = run("apply", "--settings", str(deployment))
    finally:
        file.unlink()
    if result.code:
        assert result.code == 2 and result.paragraph
        assert state(deployment) == before
        return
    settings = ("--settings", str(deployment))
    rows = run("query", f"SELECT * FROM shop.`{name.replace('`', '``')}`", *settings, "--json").json
    assert rows == [{"id": 1, name: "10.00"}]
    assert run("maintain", f"shop.{name}", *settings).code == 0
    assert run("validate", f"shop.{name}", *settings).code == 0
    assert run("drop", f"shop.{name}", *settings).code == 0
    assert run("apply", *settings).code == 0


NOT_ONE_SELECT = (
    "DROP TABLE shop.orders",
    "SELECT 1 AS a; DROP TABLE shop.orders",
    "SELECT FROM",
    "DELETE FROM shop.orders",
    "INSERT INTO shop.orders VALUES (9, 9, DATE'2026-01-01', 1)",
    "SET spark.x = 1",
    "SHOW TABLES IN shop",
    HIDDEN_INSERT,
    "SELECT nosuch FROM shop.orders",
)


@pytest.mark.parametrize("sql", NOT_ONE_SELECT)
def test_query_is_one_select_that_spark_takes(run: Run, deployment: Path, sql: str) -> None:
    before = state(deployment)
    result = run("query", sql, "--settings", str(deployment))
    assert result.code == 2 and result.paragraph
    assert state(deployment) == before


def test_query_is_read_as_spark_reads_it(run: Run, deployment: Path) -> None:
    asked = "SELECT ifnull(name, '?'), localtimestamp() > TIMESTAMP_NTZ'2026-01-01' AS late FROM shop.customers;"
    (row,) = run("query", asked, "--settings", str(deployment), "--json").json
    assert row == {"ifnull(name, ?)": "Ada", "late": True}


def test_no_statement_shows_the_environment_of_the_driver(run: Run, deployment: Path) -> None:
    file = deployment / "sql" / "shop" / "views" / "zz_told.sql"
    settings = ("--settings", str(deployment))
    query = "SELECT id, '${env:HOME}' AS home, '${spark.app.name}' AS app FROM shop.orders"
    file.write_text(view("shop.told", query, "COMMENT '${env:PATH}'"), encoding="utf-8")
    try:
        assert run("apply", *settings).code == 0
        asked = ("shop.told", "SELECT * FROM shop.told", query)
        shown = [run("query", each, *settings, "--json").json for each in asked]
    finally:
        file.unlink()
        run("drop", "shop.told", *settings)
        run("apply", *settings)
    assert shown == [[{"id": 1, "home": "${env:HOME}", "app": "${spark.app.name}"}]] * len(asked)


def test_view_that_others_read_is_kept(run: Run, deployment: Path) -> None:
    before = state(deployment)
    result = run("drop", "shop.revenue_by_country", "--settings", str(deployment))
    assert result.code == 4 and "shop.large_countries" in result.paragraph
    assert state(deployment) == before


@pytest.mark.slow
def test_missing_base_table_at_run_time(run: Run, deployment: Path, spark: SparkSession) -> None:
    settings = ("--settings", str(deployment))
    with Engine.open(spark=spark, settings=deployment / "ivm.toml") as engine:
        place = deployment / "elsewhere"
        spark.sql("SELECT 1 AS id").write.format("delta").save(str(place))
        engine.register_table("shop.passing", location=str(place))
        engine.create(view("shop.over_passing", "SELECT id FROM shop.passing"))
    shutil.move(place, deployment / "gone")
    before = state(deployment)
    try:
        result = run("maintain", "shop.over_passing", *settings)
        assert result.code == 5 and "shop.passing" in result.paragraph
        assert run("doctor", *settings).code == 9
        unharmed = [
            report["error"]
            for report in run("maintain", *settings, "--json").json
            if report["view"] != "shop.over_passing"
        ]
        assert unharmed and not any(unharmed)
    finally:
        shutil.move(deployment / "gone", place)
    assert before[0] != {} and run("maintain", "shop.over_passing", *settings).code == 0
    assert run("drop", "shop.over_passing", *settings).code == 0


def test_missing_java(run: Run, deployment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ivm_core.engine.session.open_session", open_session)
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    result = run("query", "shop.revenue_by_country", "--settings", str(deployment))
    assert result.code == 9
    assert all(command in result.paragraph for command in ("apt-get install", "dnf install", "brew install"))
    assert run("doctor", "--settings", str(deployment)).code == 9
