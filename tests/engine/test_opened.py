"""A table that was opened before is opened again exactly when its log has moved on or is another's."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from ivm_core.engine import opened
from ivm_core.engine.opened import open_newest


def _write(path: Path, *values: int, mode: str = "append") -> None:
    deltalake.write_deltalake(str(path), pa.table({"v": list(values)}), mode=mode)


def test_an_unchanged_table_is_opened_once(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    assert open_newest(tmp_path / "t") is open_newest(tmp_path / "t")


def test_commits_are_seen(tmp_path: Path) -> None:
    for version in range(4):
        _write(tmp_path / "t", version)
        assert open_newest(tmp_path / "t").version() == version


@pytest.mark.parametrize("commits", [1, 2, 3, 5])
def test_a_table_made_anew_is_another_whatever_version_it_has_come_to(tmp_path: Path, commits: int) -> None:
    for value in range(3):
        _write(tmp_path / "t", value)
    before = open_newest(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    for value in range(commits):
        _write(tmp_path / "t", value)
    after = open_newest(tmp_path / "t")
    assert (after.version(), after.metadata().id) == (
        commits - 1,
        deltalake.DeltaTable(str(tmp_path / "t")).metadata().id,
    )
    assert after.metadata().id != before.metadata().id


def test_a_table_in_the_place_of_another_of_the_same_version_is_seen(tmp_path: Path) -> None:
    for name in ("t", "u"):
        _write(tmp_path / name, 1)
    before = open_newest(tmp_path / "t")
    (tmp_path / "t").rename(tmp_path / "away")
    (tmp_path / "u").rename(tmp_path / "t")
    assert open_newest(tmp_path / "t").metadata().id != before.metadata().id


def test_a_table_that_is_gone_is_not_found_where_it_was(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    open_newest(tmp_path / "t")
    shutil.rmtree(tmp_path / "t")
    with pytest.raises(deltalake.exceptions.TableNotFoundError):
        open_newest(tmp_path / "t")


def test_each_thread_has_its_own(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    found: list[deltalake.DeltaTable] = []
    thread = threading.Thread(target=lambda: found.append(open_newest(tmp_path / "t")))
    thread.start()
    thread.join()
    assert found[0] is not open_newest(tmp_path / "t")


def test_no_more_than_some_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "MOST", 2)
    tables = {}
    for name in ("a", "b", "c"):
        _write(tmp_path / name, 1)
        tables[name] = open_newest(tmp_path / name)
    assert open_newest(tmp_path / "c") is tables["c"]
    assert open_newest(tmp_path / "a") is not tables["a"]
