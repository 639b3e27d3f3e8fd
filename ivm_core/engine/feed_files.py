"""The change feed of a table on a local path, read by this process: for few rows 10 ms, where a query takes most of a second.

Only of tables whose files delta-rs would read as Delta does, with the same columns at both ends of the range, and the feed on
all along. delta-rs itself takes the instants that Spark writes for nanoseconds, of which 64 bits reach from 1677 to 2262
only, and wraps the others round: so the files are opened here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.dataset as ds

from ivm_core.batch.model import TableRange
from ivm_core.engine.location import local_path, normalize_location
from ivm_core.engine.log_entries import commit_file
from ivm_core.engine.log_files import AS_STORED, ODD, has_padded_text, in_old_calendar, open_alike
from ivm_core.engine.model import Relation
from ivm_core.engine.small import HERE

logger = logging.getLogger(__name__)

CHANGE_TYPE = "_change_type"
MOST_BYTES = 256 * 2**20  # of changes that this process reads itself: 200,000 rows may hold long texts
_FEED = "delta.enableChangeDataFeed"
_PLAIN = frozenset(
    {"string", "long", "integer", "short", "byte", "boolean", "binary", "date", "timestamp", "float", "double"}
)
# Features that change nothing about which rows a file or a change file holds, or how they are read.
_FEATURES = frozenset({"appendOnly", "changeDataFeed", "checkConstraints", "domainMetadata", "invariants"})
_FORMAT = ds.ParquetFileFormat(read_options=AS_STORED)


class _LeftToSpark(Exception):
    """The feed is not one that is read here."""


def read_feed(relation: Relation, covered: TableRange, columns: frozenset[str]) -> pa.Table | None:
    """The rows of the range's change feed with ``CHANGE_TYPE``; None where it is left to Spark.

    Of an ordinary table with the stored columns of these names (in lower case), of a view's state with all of them. Left to
    Spark are also more rows or bytes than this process holds, and what cannot be read: Spark tells why.
    """
    place = normalize_location(relation.location)
    before, after = (
        open_alike(place, version, _FEATURES, ODD) for version in (covered.from_version, covered.to_version)
    )
    path = local_path(place)
    if before is None or after is None or path is None or not _readable(before, after):
        return None
    stored = pa.schema(after.schema().to_arrow())
    if relation.visible_sql is None:
        stored = pa.schema([field for field in stored if field.name.lower() in columns])
    schema = stored.append(pa.field(CHANGE_TYPE, pa.string()))
    batches, rows, size = [], 0, 0
    try:
        for batch in _read(path, covered, stored, schema):
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows > HERE or size > MOST_BYTES:
                return None
            batches.append(batch)
    except (_LeftToSpark, OSError, ValueError, pa.ArrowException) as error:
        logger.info("the change feed of %s is left to Spark: %s", relation.name, type(error).__name__)
        return None
    return pa.Table.from_batches(batches, schema)


def _read(table: Path, covered: TableRange, stored: pa.Schema, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Of each commit its change files, or where it has none, the files that it added and removed."""
    for version in range(covered.from_version + 1, covered.to_version + 1):
        actions = _actions(table, version)
        if actions["cdc"]:
            yield from _rows(table, actions["cdc"], schema)
            continue
        for kind, change in (("remove", "delete"), ("add", "insert")):
            files = [action for action in actions[kind] if action["dataChange"]]
            for batch in _rows(table, files, stored):
                types = pa.array([change]).take(pa.array([0] * batch.num_rows, pa.int8()))
                yield pa.RecordBatch.from_arrays([*batch.columns, types], schema=schema)


def _actions(table: Path, version: int) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"cdc": [], "add": [], "remove": []}
    with commit_file(table, version).open(encoding="utf-8") as lines:
        for line in lines:
            for kind, action in json.loads(line).items():
                if kind in found:
                    found[kind].append(action)
                elif kind == "metaData" and action["configuration"].get(_FEED) != "true":
                    raise _LeftToSpark
    return found


def _rows(table: Path, files: list[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if any(ODD.search(file["path"]) or file.get("deletionVector") for file in files):
        raise _LeftToSpark
    if files:
        paths = [str(table / file["path"]) for file in files]
        if in_old_calendar(map(Path, paths), schema):
            raise _LeftToSpark
        yield from ds.dataset(paths, schema=schema, format=_FORMAT).to_batches(use_threads=len(files) > 1)


def _readable(before: deltalake.DeltaTable, after: deltalake.DeltaTable) -> bool:
    """One table with one set of plain columns, whose feed is on."""
    tables = (before, after)
    if before.metadata().id != after.metadata().id or before.schema() != after.schema():
        return False
    if any(table.metadata().configuration.get(_FEED) != "true" for table in tables):
        return False
    if has_padded_text(json.loads(after.schema().to_json())):
        return False
    types = [getattr(field.type, "type", "") for field in after.schema().fields]
    return all(name in _PLAIN or name.startswith("decimal") for name in types)
