"""Delta tables as this process opened them last, opened again once their logs have moved on.

A batch asks some twenty times where the tables of its view stand; opening one reads its log.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

import deltalake

MOST = 128  # tables that a thread keeps, each with the list of its files


class _Kept(threading.local):
    def __init__(self) -> None:
        self.tables: OrderedDict[Path, tuple[_Stamp, deltalake.DeltaTable]] = OrderedDict()


_Stamp = tuple[int, int, int, int]
_kept = _Kept()


def open_newest(path: Path) -> deltalake.DeltaTable:
    """The table at its newest version, not to be moved to another one. Raises what ``deltalake.DeltaTable`` raises.

    A table that was opened before is still the newest where the entry of its version is the very file that it was, and
    there is none of the next: a table that was made anew has another file there, or none.
    """
    tables = _kept.tables
    if (known := tables.get(path)) is not None:
        stamp, table = known
        version = table.version()
        if _stamp(path, version) == stamp and not _entry(path, version + 1).exists():
            tables.move_to_end(path)
            return table
        del tables[path]
    table = deltalake.DeltaTable(str(path))
    found = _stamp(path, table.version())
    if found is not None:
        tables[path] = found, table
        while len(tables) > MOST:
            tables.popitem(last=False)
    return table


def _entry(path: Path, version: int) -> Path:
    return path / "_delta_log" / f"{version:020}.json"


def _stamp(path: Path, version: int) -> _Stamp | None:
    try:
        found = _entry(path, version).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
