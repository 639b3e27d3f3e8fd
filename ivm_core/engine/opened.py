"""Delta tables as this process opened them last, opened again once their logs have moved on.

A batch asks some twenty times where the tables of its view stand, and begins where the one before ended; opening a
table reads its log. Views that are maintained side by side ask the same of the same tables: what is kept serves them all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

import deltalake

MOST = 128  # tables that are kept, each with the lists of its files
MOST_VERSIONS = 3  # of each: where its views stand, where they go to, and the newest

_Stamp = tuple[int, int, int, int]
_Versions = OrderedDict[int, tuple[_Stamp, deltalake.DeltaTable]]
_tables: OrderedDict[Path, _Versions] = OrderedDict()
_lock = threading.Lock()  # of the dictionaries only: tables are opened outside


def open_newest(path: Path) -> deltalake.DeltaTable:
    """The table at its newest version, to be read only: others have it too. Raises what ``deltalake.DeltaTable`` raises.

    A table that was opened before is still the newest where the entry of its version is the very file that it was, and
    there is none of the next: a table that was made anew has another file there, or none.
    """
    with _lock:
        newest = max(_tables.get(path, ()), default=None)
    if newest is not None and not _entry(path, newest + 1).exists() and (known := _known(path, newest)) is not None:
        return known
    return _kept(path, deltalake.DeltaTable(str(path)))


def open_at(path: Path, version: int) -> deltalake.DeltaTable:
    """The same of one version, whose entry tells likewise whether it is still that table's."""
    known = _known(path, version)
    return known if known is not None else _kept(path, deltalake.DeltaTable(str(path), version=version))


def _known(path: Path, version: int) -> deltalake.DeltaTable | None:
    stamp = _stamp(path, version)
    with _lock:
        versions = _tables.get(path, OrderedDict())
        if version not in versions:
            return None
        if versions[version][0] != stamp:
            del _tables[path]  # another table is in its place, or its history is gone
            return None
        _tables.move_to_end(path)
        versions.move_to_end(version)
        return versions[version][1]


def _kept(path: Path, table: deltalake.DeltaTable) -> deltalake.DeltaTable:
    version = table.version()
    stamp = _stamp(path, version)
    if stamp is not None:
        with _lock:
            versions = _tables.setdefault(path, OrderedDict())
            versions[version] = stamp, table
            versions.move_to_end(version)
            _tables.move_to_end(path)
            while len(versions) > MOST_VERSIONS:
                versions.popitem(last=False)
            while len(_tables) > MOST:
                _tables.popitem(last=False)
    return table


def _entry(path: Path, version: int) -> Path:
    return path / "_delta_log" / f"{version:020}.json"


def _stamp(path: Path, version: int) -> _Stamp | None:
    try:
        found = _entry(path, version).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
