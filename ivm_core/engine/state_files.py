"""A state on a local path changed file by file: only those that hold rows of a batch are written anew.

The commit has a change file beside its data files, so that views above read what changed and not all that was rewritten;
delta-rs commits none of those (Delta protocol, "Add CDC File"), so the commit is written here.
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import deltalake
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from ivm_core.engine.feed_files import CHANGE_TYPE
from ivm_core.engine.log_entries import commit_file
from ivm_core.engine.log_files import AS_STORED, ODD
from ivm_core.engine.model import CommitTag
from ivm_core.engine.small import HERE, net_rows
from ivm_core.engine.split_state import touched_rows
from ivm_core.plan.nodes import WEIGHT

logger = logging.getLogger(__name__)

MOST_BYTES = 256 * 1024**2  # of files that this process writes anew in one batch
MOST_FILES = 256
_ROWS_OF_A_FILE = 2_000_000
_ROWS_OF_A_GROUP = 256 * 1024
_LONGEST_TEXT = 32  # characters of a string in a file's statistics, as Delta has it
_FORMAT = ds.ParquetFileFormat(read_options=AS_STORED)
_COUNTS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")


@dataclass(frozen=True, slots=True)
class Apart:
    """The rows of some files: those that a batch may touch, and the others. All other files hold no row that it touches."""

    shown: pa.Table
    aside: pa.Table
    files: tuple[tuple[str, int], ...]  # path in the table, bytes


def take_files_apart(
    folder: Path, table: deltalake.DeltaTable, schema: pa.Schema, batch: pa.Table, keys: Sequence[str]
) -> Apart | None:
    """The stored rows whose every key is among the batch's values of that column, and those beside them in their files.

    None where the batch's keys are of other types, and where there is more than this process holds.
    """
    actions = pa.table(table.get_add_actions(flatten=True))
    files = list(zip(actions.column("path").to_pylist(), actions.column("size_bytes").to_pylist(), strict=True))
    if len(files) > MOST_FILES or any(ODD.search(path) for path, _ in files):
        return None
    found, shown, aside = [], [schema.empty_table()], [schema.empty_table()]
    for path, size in files:
        stored = ds.dataset(str(folder / path), schema=schema, format=_FORMAT)
        touched = touched_rows(stored.to_table(columns=list(keys)), batch, keys)
        if touched is None:
            return None
        if not pc.any(touched).as_py():
            continue
        found.append((path, size))
        if sum(size for _, size in found) > MOST_BYTES:
            return None
        rows = stored.to_table()
        shown.append(rows.filter(touched))
        aside.append(rows.filter(pc.invert(touched)))
        if sum(part.num_rows for part in shown) > HERE:
            return None
    return Apart(pa.concat_tables(shown), pa.concat_tables(aside), tuple(found))


def replace_rows(folder: Path, version: int, apart: Apart, rows: pa.Table, tag: CommitTag) -> bool:
    """Commit ``rows`` in the place of those shown, as the version after ``version``; False where they are the same.

    Raises FileExistsError where another commit has that version; nothing of the table is changed then.
    """
    changes = _changes(apart.shown, rows)
    if changes.num_rows == 0:
        return False
    now = time.time_ns() // 1_000_000
    everything = pa.concat_tables([apart.aside, rows])
    written = list(_write(folder, "part", everything, now))
    feed = list(_write(folder / "_change_data", "cdc", changes, now))
    inserted = pc.sum(pc.equal(changes.column(CHANGE_TYPE), "insert")).as_py()
    metrics = dict.fromkeys(_COUNTS, "0") | {
        "numTargetRowsInserted": str(inserted),
        "numTargetRowsDeleted": str(changes.num_rows - inserted),
        "numOutputRows": str(everything.num_rows),
        "numTargetFilesAdded": str(len(written)),
        "numTargetFilesRemoved": str(len(apart.files)),
    }
    actions: list[dict[str, Any]] = [
        {"commitInfo": _commit_info(now, version, metrics, tag)},
        {"txn": {"appId": tag.app_id, "version": tag.txn_version, "lastUpdated": now}},
    ]
    for path, size in apart.files:
        gone = {"path": path, "deletionTimestamp": now, "dataChange": True, "extendedFileMetadata": True}
        actions.append({"remove": {**gone, "partitionValues": {}, "size": size}})
    actions += [{"add": {**file, "dataChange": True, "stats": json.dumps(stats)}} for file, stats in written]
    for file, _ in feed:
        change = {"path": f"_change_data/{file['path']}", "partitionValues": {}, "size": file["size"]}
        actions.append({"cdc": {**change, "dataChange": False}})
    _publish(commit_file(folder, version + 1), actions)
    return True


def checkpoint(table: deltalake.DeltaTable) -> None:
    """Write a checkpoint where the newest version is due for one. A batch does not fail for want of it."""
    interval = int(table.metadata().configuration.get("delta.checkpointInterval", "10"))
    if table.version() % interval == 0:
        try:
            table.create_checkpoint()
        except DeltaError as error:
            logger.warning("no checkpoint of %s was written: %s", table.table_uri, error)


def _changes(old: pa.Table, new: pa.Table) -> pa.Table:
    """The rows that differ, with what happened to them, each as often as it did."""
    weights = pa.array(np.repeat(np.array([-1, 1], dtype=np.int64), [old.num_rows, new.num_rows]))
    netted = net_rows(pa.concat_tables([old, new]).append_column(WEIGHT, weights))
    assert netted is not None, "a state with floating-point columns"
    times = netted.column(WEIGHT).to_numpy()
    kinds = pa.array(np.where(times > 0, "insert", "delete").tolist(), pa.string())
    marked = netted.drop_columns([WEIGHT]).select(old.column_names).append_column(CHANGE_TYPE, kinds)
    return marked.take(pa.array(np.repeat(np.arange(len(times)), np.abs(times))))


def _write(folder: Path, prefix: str, rows: pa.Table, now: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Write the rows as files; of each what its action says, and its statistics."""
    for start in range(0, rows.num_rows, _ROWS_OF_A_FILE):
        part = rows.slice(start, _ROWS_OF_A_FILE)
        name = f"{prefix}-{start // _ROWS_OF_A_FILE:05}-{uuid.uuid4()}-c000.snappy.parquet"
        folder.mkdir(exist_ok=True)
        pq.write_table(part, folder / name, row_group_size=_ROWS_OF_A_GROUP)
        size = (folder / name).stat().st_size
        yield {"path": name, "partitionValues": {}, "size": size, "modificationTime": now}, _statistics(part)


def _statistics(rows: pa.Table) -> dict[str, Any]:
    """What Delta keeps of a file; bounds only of types whose text is exact, and no longer than Delta's own."""
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    for name in rows.column_names:
        column = rows.column(name)
        if not (pa.types.is_integer(column.type) or pa.types.is_date(column.type) or pa.types.is_string(column.type)):
            continue
        least, most = pc.min_max(column).as_py().values()
        if least is None:
            continue
        low[name] = least[:_LONGEST_TEXT] if isinstance(least, str) else _as_json(least)
        if not (isinstance(most, str) and len(most) > _LONGEST_TEXT):
            high[name] = _as_json(most)
    nulls = {name: rows.column(name).null_count for name in rows.column_names}
    return {"numRecords": rows.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}


def _as_json(value: Any) -> Any:
    return value if isinstance(value, int | str) else value.isoformat()


def _commit_info(now: int, version: int, metrics: dict[str, str], tag: CommitTag) -> dict[str, Any]:
    info = {
        "timestamp": now,
        "operation": "MERGE",
        "operationParameters": {},
        "readVersion": version,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": metrics,
        "engineInfo": "ivm-core",
        "txnId": str(uuid.uuid4()),
    }
    return info | ({"userMetadata": tag.user_metadata} if tag.user_metadata else {})


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
