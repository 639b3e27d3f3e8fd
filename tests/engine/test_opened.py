"""A table that was opened before is opened again exactly when its log has moved on or is another's."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from ivm_core.engine import opened
from ivm_core.engine.opened import open_at, open_newest


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


def test_threads_share_what_is_kept(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    found: list[deltalake.DeltaTable] = []
    thread = threading.Thread(target=lambda: found.append(open_newest(tmp_path / "t")))
    thread.start()
    thread.join()
    assert found[0] is open_newest(tmp_path / "t")


def test_threads_see_every_commit_and_no_half_of_one(tmp_path: Path) -> None:
    _write(tmp_path / "t", 0)
    wrong: list[str] = []
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            at_least = len(list((tmp_path / "t" / "_delta_log").glob("*.json"))) - 1
            table = open_newest(tmp_path / "t")
            first = open_at(tmp_path / "t", 0)
            rows = sum(table.get_add_actions(flatten=True).column("num_records").to_pylist())
            if not (at_least <= table.version() == rows - 1 and first.version() == 0):
                wrong.append(f"at least {at_least}: version {table.version()}, {rows} rows, first {first.version()}")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for value in range(1, 30):
        _write(tmp_path / "t", value)
    ended.set()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_version_where_a_batch_ended_is_not_opened_again_for_the_next(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    ended = open_newest(tmp_path / "t")
    _write(tmp_path / "t", 2)
    assert open_newest(tmp_path / "t").version() == 1
    assert open_at(tmp_path / "t", 0) is ended


def test_a_version_of_another_table_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    _write(tmp_path / "t", 1)
    before = open_at(tmp_path / "t", 0)
    shutil.rmtree(tmp_path / "t")
    _write(tmp_path / "t", 2)
    assert open_at(tmp_path / "t", 0).metadata().id != before.metadata().id


def test_a_version_whose_entry_is_gone_is_not_read_from_memory(tmp_path: Path) -> None:
    for value in range(2):
        _write(tmp_path / "t", value)
    open_at(tmp_path / "t", 0)
    (tmp_path / "t" / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(deltalake.exceptions.DeltaError):
        open_at(tmp_path / "t", 0)


def test_no_more_than_some_versions_of_a_table_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "MOST_VERSIONS", 2)
    for value in range(3):
        _write(tmp_path / "t", value)
    tables = [open_at(tmp_path / "t", version) for version in range(3)]
    assert open_at(tmp_path / "t", 2) is tables[2]
    assert open_newest(tmp_path / "t") is tables[2]
    assert open_at(tmp_path / "t", 0) is not tables[0]


def test_no_more_than_some_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "MOST", 2)
    tables = {}
    for name in ("a", "b", "c"):
        _write(tmp_path / name, 1)
        tables[name] = open_newest(tmp_path / name)
    assert open_newest(tmp_path / "c") is tables["c"]
    assert open_newest(tmp_path / "a") is not tables["a"]
