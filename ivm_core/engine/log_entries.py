"""What a local table's log says of each commit, by the names of its files.

delta-rs counts its entries down from the newest version, so one commit without a ``commitInfo``, which the protocol
allows, gives each older one its successor's number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_entries(table: Path, newest: int, limit: int) -> list[dict[str, Any]] | None:
    """The ``commitInfo`` of up to ``limit`` versions, newest first, with ``version``, as far back as their files go.

    A commit without one has the time of its file and no operation. None where the newest version has no file.
    """
    entries = []
    for version in range(newest, max(newest - limit, -1), -1):
        file = commit_file(table, version)
        try:
            entry = _commit_info(file)
            entry.setdefault("timestamp", int(file.stat().st_mtime * 1000))
        except FileNotFoundError:
            break
        entries.append({**entry, "version": version})
    return entries or None


def commit_file(table: Path, version: int) -> Path:
    """Where the log of a local table has one commit."""
    return table / "_delta_log" / f"{version:020}.json"


def _commit_info(file: Path) -> dict[str, Any]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if '"commitInfo"' in line[:20]:  # other lines can be long
                found: dict[str, Any] = json.loads(line)["commitInfo"]
                return found
    return {}
