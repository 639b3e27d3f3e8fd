"""A state on a local path changed file by file: only those that hold rows of a batch are written anew.

The commit has a change file beside its data files, so that views above read what changed and not all that was rewritten;
delta-rs commits none of those (Delta protocol, "Add CDC File"), so the commit is written here.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ivm_core.engine.bits import difference, viewed
from ivm_core.engine.feed_files import CHANGE_TYPE
from ivm_core.engine.log_entries import commit_file
from ivm_core.engine.log_files import IN_NEW_CALENDAR, ODD, stored_rows
from ivm_core.engine.model import CommitTag
from ivm_core.engine.split_state import MOST_BYTES, MOST_HELD, Apart, decoded_bytes, files_of
from ivm_core.plan.nodes import WEIGHT

_ROWS_OF_A_FILE = 1_000_000
_BYTES_OF_A_FILE = 64 << 20  # of those that are put together, where as many rows have fewer
_WRITERS = 4  # files written at a time
_ROWS_OF_A_GROUP = 256 * 1024
_LONGEST_TEXT = 32  # characters of a string in a file's statistics, as Delta has it


def replace_rows(folder: Path, version: int, apart: Apart, rows: pa.Table, tag: CommitTag) -> bool:
    """Commit ``rows`` in the place of those shown, as the version after ``version``; False where they are the same.

    Raises FileExistsError where another commit has that version; nothing of the table is changed then.
    """
    changes = _changes(apart.shown, rows)
    if changes.num_rows == 0:
        return False
    now = time.time_ns() // 1_000_000
    held = pa.concat_tables([apart.aside, rows])
    at_a_time = MOST_HELD // max((part.decoded_bytes for part in apart.left), default=1)
    written = [
        *_write(folder, "part", _slices(held), now),
        *_write(folder, "part", [part.rows for part in apart.left], now, at_a_time),
    ]
    # Where no file goes the new ones are the feed.
    feed = _write(folder / "_change_data", "cdc", _slices(changes), now) if apart.files else []
    inserted = pc.sum(pc.equal(changes.column(CHANGE_TYPE), "insert")).as_py()
    metrics = {
        "numTargetRowsInserted": inserted,
        "numTargetRowsUpdated": 0,
        "numTargetRowsDeleted": changes.num_rows - inserted,
        "numOutputRows": held.num_rows + sum(part.number for part in apart.left),
        "numTargetFilesAdded": len(written),
        "numTargetFilesRemoved": len(apart.files),
    }
    actions: list[dict[str, Any]] = [
        {"commitInfo": _commit_info(now, version, "MERGE", metrics, tag.user_metadata)},
        {"txn": {"appId": tag.app_id, "version": tag.txn_version, "lastUpdated": now}},
        *_removed(apart.files, now),
        *_added(written),
    ]
    for file, _ in feed:
        change = {"path": f"_change_data/{file['path']}", "partitionValues": {}, "size": file["size"]}
        actions.append({"cdc": {**change, "dataChange": False}})
    _publish(commit_file(folder, version + 1), actions)
    return True


def put_together(folder: Path, table: deltalake.DeltaTable, schema: pa.Schema, below: int) -> bool:
    """Write the rows of the files of fewer bytes as few files, in a commit that changes no row; False where it is not done.

    Of more than this process holds those come first that fit. Raises FileExistsError where another commit came first;
    nothing of the table is changed then. delta-rs' own compaction takes Spark's instants for nanoseconds, which wraps those
    before 1677 and after 2262, and writes bounds of decimals as floating-point numbers, which may leave the values out.
    """
    small = sorted((file for file in files_of(table) if file[1] < below), key=lambda file: file[1])
    if any(ODD.search(path) for path, _ in small):
        return False
    found: list[tuple[str, int]] = []
    stored = held = 0
    for path, size in small:
        stored, held = stored + size, held + decoded_bytes(folder / path)
        if stored > MOST_BYTES or held > MOST_HELD:
            break
        found.append((path, size))
    if len(found) < 2:
        return False
    rows = stored_rows((folder / path for path, _ in found), schema).to_table()
    now, version = time.time_ns() // 1_000_000, int(table.version())
    # Narrow rows: a file of the usual number of them would be a small one again.
    most = max(_ROWS_OF_A_FILE, rows.num_rows * _BYTES_OF_A_FILE // sum(size for _, size in found))
    written = _write(folder, "part", _slices(rows, most), now, most=most)
    metrics = {"numAddedFiles": len(written), "numRemovedFiles": len(found)}
    actions = [
        {"commitInfo": _commit_info(now, version, "OPTIMIZE", metrics)},
        *_removed(found, now, data_change=False),
        *_added(written, data_change=False),
    ]
    _publish(commit_file(folder, version + 1), actions)
    return True


def _changes(old: pa.Table, new: pa.Table) -> pa.Table:
    """The rows that differ, with what happened to them, each as often as it did."""
    netted = difference(old, new)
    times = netted.column(WEIGHT).to_numpy()
    net = netted.take(pa.array(np.repeat(np.arange(len(times)), np.abs(times)))).select(old.column_names)
    kinds = pa.array(np.where(np.repeat(times, np.abs(times)) > 0, "insert", "delete").tolist(), pa.string())
    return viewed(net, old.schema.types).append_column(CHANGE_TYPE, kinds)


def _slices(rows: pa.Table, most: int = 0) -> list[Callable[[], pa.Table]]:
    most = most or _ROWS_OF_A_FILE
    return [partial(rows.slice, start, most) for start in range(0, rows.num_rows, most)]


def _write(
    folder: Path,
    prefix: str,
    parts: Sequence[Callable[[], pa.Table]],
    now: int,
    at_a_time: int = _WRITERS,
    most: int = 0,
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Write the parts' rows as files, some parts at a time; of each file what its action says, and its statistics.

    ``most``: rows of a file, 0 for the usual number.
    """
    folder.mkdir(exist_ok=True)

    def write(part: Callable[[], pa.Table]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        return [_written(folder, prefix, rows(), now) for rows in _slices(part(), most)]

    if len(parts) < 2:
        return [file for part in parts for file in write(part)]
    with ThreadPoolExecutor(min(_WRITERS, at_a_time)) as pool:
        return [file for files in pool.map(write, parts) for file in files]


def _written(folder: Path, prefix: str, rows: pa.Table, now: int) -> tuple[dict[str, Any], dict[str, Any]]:
    name = f"{prefix}-00000-{uuid.uuid4()}-c000.snappy.parquet"
    _write_file(folder / name, rows)
    size = (folder / name).stat().st_size
    return {"path": name, "partitionValues": {}, "size": size, "modificationTime": now}, _statistics(rows)


def _write_file(file: Path, rows: pa.Table) -> None:
    # Arrow's bounds of floating-point columns leave NaN out, which to Spark is the largest number.
    bounded = [field.name for field in rows.schema if not pa.types.is_floating(field.type)]
    # Dictionaries of numbers that hardly repeat take half of the writing's time.
    repeated = [field.name for field in rows.schema if not _is_number(field.type)]
    options = {"use_dictionary": repeated or False, "write_statistics": bounded or False}
    rows = rows.replace_schema_metadata({**(rows.schema.metadata or {}), **IN_NEW_CALENDAR})
    pq.write_table(rows, file, row_group_size=_ROWS_OF_A_GROUP, **options)


def _statistics(rows: pa.Table) -> dict[str, Any]:
    """What Delta keeps of a file; bounds only of types whose text is exact, and no longer than Delta's own."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    for name in rows.column_names:
        column = rows.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_date(column.type) or pa.types.is_string(column.type)):
            continue
        try:
            least, most = pc.min_max(column).as_py().values()
        except (ValueError, OverflowError):  # a year or bytes that Python's types cannot hold
            continue
        if least is None:
            continue
        low[name] = least[:_LONGEST_TEXT] if isinstance(least, str) else _as_json(least)
        if not (isinstance(most, str) and len(most) > _LONGEST_TEXT):
            high[name] = _as_json(most)
    nulls = {name: rows.column(name).null_count for name in rows.column_names}
    return {"numRecords": rows.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}


def _is_number(type_: pa.DataType) -> bool:
    return any(test(type_) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))


def _as_json(value: Any) -> Any:
    return value if isinstance(value, int | str) else value.isoformat()


def _removed(files: Iterable[tuple[str, int]], now: int, *, data_change: bool = True) -> list[dict[str, Any]]:
    gone = {"deletionTimestamp": now, "dataChange": data_change, "extendedFileMetadata": True, "partitionValues": {}}
    return [{"remove": {"path": path, "size": size, **gone}} for path, size in files]


def _added(
    written: Iterable[tuple[dict[str, Any], dict[str, Any]]], *, data_change: bool = True
) -> list[dict[str, Any]]:
    return [{"add": {**file, "dataChange": data_change, "stats": json.dumps(stats)}} for file, stats in written]


def _commit_info(
    now: int, version: int, operation: str, metrics: dict[str, int], user_metadata: str | None = None
) -> dict[str, Any]:
    info = {
        "timestamp": now,
        "operation": operation,
        "operationParameters": {},
        "readVersion": version,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {name: str(count) for name, count in metrics.items()},
        "engineInfo": "ivm-core",
        "txnId": str(uuid.uuid4()),
    }
    return info | ({"userMetadata": user_metadata} if user_metadata else {})


def _publish(file: Path, actions: Sequence[dict[str, Any]]) -> None:
    """Make the commit's file appear whole, and never in the place of another."""
    draft = file.with_name(f".{file.name}.{uuid.uuid4()}.tmp")
    try:
        with draft.open("x", encoding="utf-8") as lines:
            lines.writelines(json.dumps(action, separators=(",", ":")) + "\n" for action in actions)
            lines.flush()
            os.fsync(lines.fileno())
        os.link(draft, file)
    finally:
        draft.unlink(missing_ok=True)
