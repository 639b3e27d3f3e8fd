"""Settings and catalogues that cannot be used: one paragraph, exit code 8 or 7, nothing written, no secret shown."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from ivm_core import Engine
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import TableRecord
from ivm_core.maintain.group import select_views
from ivm_core.settings import Settings
from tests.catalog.records import view
from tests.cli.conftest import Run

BROKEN = {
    "not TOML": b"catalog = \n",
    "unclosed": b'[spark\nmaster = "local"',
    "binary": b"\x00\xff\xfe\x01" * 50,
    "unknown key": b'catalogue = "sqlite:///x.db"\n',
    "unknown nested key": b'[spark]\nmasters = "local[2]"\n',
    "wrong type": b'[limits]\nreplace_rows = "many"\n',
    "wrong master": b'[spark]\nmaster = "mesos://x"\n',
    "wrong memory": b'[spark]\ndriver_memory = "lots"\n',
    "project outside": b'project = "../../etc"\n',
}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("command", ["status", "apply", "doctor"])
def test_broken_settings_file(run: Run, folder: Path, content: bytes, command: str) -> None:
    Path("ivm.toml").write_bytes(content)
    result = run(command)
    assert result.code == 8
    assert len(result.paragraph) > 40
    assert run(command, "--json").json["error"]["code"] == "SETTINGS"
    assert files(folder) == {"ivm.toml": content}


def test_named_settings_file_must_exist(run: Run, folder: Path) -> None:
    for path in ("nowhere.toml", "no/where"):
        result = run("status", "--settings", path)
        assert result.code == 8 and path in result.paragraph
    assert files(folder) == {}


def test_unknown_variable(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_WARHOUSE", "x")
    result = run("status")
    assert result.code == 8 and "IVM_WAREHOUSE" in result.paragraph


def test_file_that_is_no_catalogue(run: Run, folder: Path) -> None:
    Path("catalog.db").write_bytes(b"this is no database, but long enough to be one" * 100)
    before = files(folder)
    Path("ivm.toml").write_text('catalog = "sqlite:///catalog.db"\n', encoding="utf-8")
    result = run("status")
    assert result.code == 7 and "catalog.db" in result.paragraph
    assert files(folder)["catalog.db"] == before["catalog.db"]


def test_catalogue_out_of_reach_keeps_its_password(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CATALOG", "postgresql://ivm:s3cr3t-w0rd@127.0.0.1:1/ivm")
    for arguments in (("status",), ("status", "--json")):
        result = run(*arguments)
        assert result.code == 7
        assert "s3cr3t-w0rd" not in result.out + result.err
    assert run("status").paragraph


def test_unknown_kind_of_catalogue(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CATALOG", "carrier-pigeon://x")
    result = run("status")
    assert result.code in (7, 8) and result.paragraph


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_folder_without_permission(run: Run, folder: Path) -> None:
    folder.chmod(0o500)
    try:
        assert run("init", "x").code == 8
        assert run("status").code in (7, 8)
    finally:
        folder.chmod(0o700)


def test_a_manifest_that_cannot_be_written(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sql" / "p" / "views").mkdir(parents=True)
    (folder / "taken").write_text("a file", encoding="utf-8")
    monkeypatch.setenv("IVM_MANIFEST", "taken/manifest.json")
    result = run("apply")
    assert result.code == 8 and "taken/manifest.json cannot be written" in result.paragraph
    monkeypatch.setenv("IVM_MANIFEST", "there/manifest.json")
    assert run("apply").code == 0
    assert [path.name for path in (folder / "there").iterdir()] == ["manifest.json"]


def test_no_views_yet(run: Run, folder: Path) -> None:
    assert run("status", "--json").json == []
    assert run("lineage", "--json").json == {}
    for command in ("status", "maintain", "validate", "lineage"):
        assert run(command).out.startswith("There are no views yet:"), command
    for command in ("history", "query", "drop", "refresh", "validate", "maintain", "lineage", "status"):
        result = run(command, "gold.nosuch")
        assert result.code == 4, command
        assert "gold.nosuch" in result.paragraph


def test_unknown_group(run: Run) -> None:
    result = run("maintain", "--group", "Hourlyy")
    assert result.code == 4 and "no group 'Hourlyy'" in result.paragraph
    assert run("maintain").code == 0


def test_a_group_goes_by_its_name_in_any_case(run: Run, folder: Path) -> None:
    with Catalog.open(Settings.load().catalog) as catalog:
        catalog.add_view(view("gold.v", group="hourly"))
    with Engine.open() as engine:
        assert [item.name for item in select_views(engine._session, None, "HOURLY")] == ["gold.v"]
    assert "The groups are: hourly." in run("maintain", "--group", "daily").paragraph


SQL = "CREATE INCREMENTAL MATERIALIZED VIEW s.v\nCOMMENT 'größe' AS VALUES (1) AS t (a)"


@pytest.mark.parametrize("place", ["tables", "views"])
def test_a_definition_in_another_encoding_is_named(run: Run, folder: Path, place: str) -> None:
    file = folder / "sql" / "p" / place / "latin.sql"
    file.parent.mkdir(parents=True)
    file.write_bytes(SQL.encode("latin-1"))
    result = run("plan")
    assert result.code == 2 and "latin.sql is not UTF-8 text (line 2)" in result.paragraph


@pytest.mark.parametrize(
    ("written", "said"),
    [
        # Such a view would go with the other, and without a word once its own file is gone.
        ("'ivm.auxiliary_of' = 's.other'", "ivm.auxiliary_of is set by this package alone"),
        ("'delta.appendOnly' = 'true'", "delta.appendOnly would have no effect"),
    ],
)
def test_properties_that_are_not_a_user_s_are_refused(run: Run, folder: Path, written: str, said: str) -> None:
    file = folder / "sql" / "p" / "views" / "part.sql"
    file.parent.mkdir(parents=True)
    file.write_text(SQL.replace("AS VALUES", f"TBLPROPERTIES ({written}) AS VALUES"), "utf-8")
    for command in (("plan",), ("apply",), ("explain", str(file))):
        result = run(*command)
        assert result.code == 2 and said in result.paragraph


def test_a_definition_may_begin_with_a_byte_order_mark(run: Run, folder: Path) -> None:
    file = folder / "sql" / "p" / "views" / "marked.sql"
    file.parent.mkdir(parents=True)
    file.write_text(SQL, encoding="utf-8-sig")
    assert "s.v" in run("plan").out
    explained = run("explain", str(file), "--json")
    assert explained.code == 0 and explained.json["view"] == "s.v"


def test_what_is_logged_is_as_the_settings_say(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("ivm_core")
    before = logger.level
    monkeypatch.setattr(logging.root, "handlers", [])  # those that are added go with the test
    try:
        monkeypatch.setenv("IVM_LOG_LEVEL", "debug")
        assert run("status").code == 0
        assert logger.level == logging.DEBUG
    finally:
        logger.setLevel(before)
    monkeypatch.setenv("IVM_LOG_LEVEL", "loud")
    assert "log_level" in run("status").paragraph


def test_columns_that_a_table_s_file_alone_has_are_told_of(run: Run, folder: Path) -> None:
    """Apply never changes a table: it said that nothing was to be changed."""
    file = folder / "sql" / "p" / "tables" / "t.sql"
    file.parent.mkdir(parents=True)
    file.write_text("CREATE TABLE s.t (ID INT, note STRING) USING DELTA", "utf-8")
    with Catalog.open(Settings.load().catalog) as catalog:
        catalog.upsert_table(TableRecord("s.t", "id", "/lake/t", (("id", "int"),)))
    (found,) = run("plan", "--json").json
    assert (found["action"], found["name"]) == ("unmanaged", "s.t") and "has not: note. ALTER TABLE" in found["detail"]
    file.write_text("CREATE TABLE s.t (ID INT) USING DELTA", "utf-8")
    assert run("plan").out.strip() == "Nothing to change."
