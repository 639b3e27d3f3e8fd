"""A column that came in the place of another one of its name is noticed, whatever became of the mapping since."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.engine.log import TableLog
from ivm_core.engine.same_columns import has_same_columns

PLAIN, MAPPED, ANEW = {"k": "k", "v": "v"}, {"k": "k", "v": "v"}, {"k": "k", "v": "col-1"}


def write(folder: Path, *commits: tuple[str, str, dict[str, str]]) -> TableLog:
    """A table without data: of each commit the operation, the mode of its mapping, and the stored names."""
    (folder / "_delta_log").mkdir(parents=True)
    for version, (operation, mode, names) in enumerate(commits):
        actions: list[dict[str, Any]] = [{"commitInfo": {"timestamp": version, "operation": operation}}]
        if version == 0:
            actions.append({"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}})
        ids = count(1)
        fields = [
            {"name": name, "type": "long", "nullable": True, "metadata": _mapping(mode, next(ids), stored)}
            for name, stored in names.items()
        ]
        metadata = {
            "id": "one",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": {} if mode == "none" else {"delta.columnMapping.mode": mode},
            "createdTime": 0,
        }
        actions.append({"metaData": metadata})
        (folder / "_delta_log" / f"{version:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return TableLog(str(folder))


def _mapping(mode: str, number: int, stored: str) -> dict[str, Any]:
    return {} if mode == "none" else {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": stored}


@pytest.mark.parametrize(
    ("commits", "same"),
    [
        ([("CREATE TABLE", "none", PLAIN), ("WRITE", "none", PLAIN)], True),
        ([("CREATE TABLE", "none", PLAIN), ("CHANGE COLUMN", "none", PLAIN)], True),
        ([("CREATE TABLE", "name", MAPPED), ("DELETE", "name", MAPPED)], True),
        ([("CREATE TABLE", "name", MAPPED), ("ADD COLUMNS", "name", MAPPED | {"w": "col-2"})], True),
        ([("CREATE TABLE", "none", PLAIN), ("SET TBLPROPERTIES", "name", MAPPED)], True),
        ([("CREATE TABLE", "none", PLAIN), ("RENAME COLUMN", "name", MAPPED)], True),
        (
            [("CREATE TABLE", "name", MAPPED), ("DROP COLUMNS", "name", {"k": "k"}), ("ADD COLUMNS", "name", ANEW)],
            False,
        ),
        (
            [
                ("CREATE TABLE", "name", MAPPED),
                ("DROP COLUMNS", "name", {"k": "k"}),
                ("ADD COLUMNS", "name", ANEW),
                ("REMOVE COLUMN MAPPING", "none", {"k": "k", "v": "v"}),
            ],
            False,
        ),
        ([("CREATE TABLE", "name", ANEW), ("RESTORE", "none", PLAIN)], False),
    ],
)
def test_has_same_columns(tmp_path: Path, commits: list[tuple[str, str, dict[str, str]]], same: bool) -> None:
    log = write(tmp_path / "t", *commits)
    covered = TableRange("s.t", "one", 0, len(commits) - 1, CommitClass.MUTATING)
    assert has_same_columns(log, covered, {"v"}) is same
    told = commits[-1][0] != "REMOVE COLUMN MAPPING"
    assert has_same_columns(log, covered, {"k"}) is told
