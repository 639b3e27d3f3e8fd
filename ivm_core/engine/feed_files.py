"""The change feed of a table on a local path, by its files: few rows are read by this process, many by Spark without Delta.

For few rows 10 ms, where a query takes most of a second. Only of tables whose files are read as Delta does, with the same
columns at both ends of the range, and the feed on all along. delta-rs itself takes the instants that Spark writes for
nanoseconds, of which 64 bits reach from 1677 to 2262 only, and wraps the others round: so the files are opened here.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
from sqlglot import exp

from ivm_core.apply.names import named
from ivm_core.batch.model import TableRange
from ivm_core.engine.location import local_path, normalize_location
from ivm_core.engine.log_entries import commit_file
from ivm_core.engine.log_files import ODD, differ_to_arrow, open_as_stored, stored_rows
from ivm_core.engine.model import Relation
from ivm_core.engine.plain_files import MOST_FILES, PLAIN_FEATURES, columns_alone
from ivm_core.engine.small import HERE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

CHANGE_TYPE = "_change_type"
MOST_BYTES = 256 * 2**20  # of changes that this process reads itself: 200,000 rows may hold long texts
_FEED = "delta.enableChangeDataFeed"
_PLAIN = frozenset(
    {"string", "long", "integer", "short", "byte", "boolean", "binary", "date", "timestamp", "float", "double"}
)
# Features that change nothing about which rows a file or a change file holds, or how Arrow reads them.
_FEATURES = frozenset({"appendOnly", "changeDataFeed", "checkConstraints", "domainMetadata", "invariants"})
_KINDS = {"remove": "delete", "add": "insert"}


class _LeftToDelta(Exception):
    """The feed is not one that is read by its files."""


@dataclass(frozen=True, slots=True)
class _Feed:
    """The files of a range's feed, by what their rows are: "" where a column tells."""

    table: deltalake.DeltaTable  # at the range's end
    files: dict[str, list[str]]


def read_feed(relation: Relation, covered: TableRange, columns: frozenset[str]) -> pa.Table | None:
    """The rows of the range's change feed with ``CHANGE_TYPE``; None where it is left to Spark.

    Of an ordinary table with the stored columns of these names (in lower case), of a view's state with all of them. Left to
    Spark are also more rows or bytes than this process holds, and what cannot be read: Spark tells why.
    """
    feed = _find(relation, covered, _FEATURES)
    if feed is None or not _is_plain(feed.table):
        return None
    stored = pa.schema(feed.table.schema().to_arrow())
    if relation.visible_sql is None:
        stored = pa.schema([field for field in stored if field.name.lower() in columns])
    schema = stored.append(pa.field(CHANGE_TYPE, pa.string()))
    batches, rows, size = [], 0, 0
    try:
        for batch in _read(feed, stored, schema):
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows > HERE or size > MOST_BYTES:
                return None
            batches.append(batch)
    except (_LeftToDelta, OSError, ValueError, pa.ArrowException) as error:
        logger.info("the change feed of %s is left to Spark: %s", relation.name, type(error).__name__)
        return None
    return pa.Table.from_batches(batches, schema)


def feed_frame(spark: SparkSession, relation: Relation, covered: TableRange) -> DataFrame | None:
    """The rows of the range's change feed with ``CHANGE_TYPE``, not read yet; None where it is left to Delta Lake.

    Delta plans a reading of the feed by several jobs of Spark; so only of so many files that this is the larger part.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    feed = _find(relation, covered, PLAIN_FEATURES)
    if feed is None or not 0 < sum(map(len, feed.files.values())) <= MOST_FILES:
        return None
    for files in feed.files.values():
        # What was removed, restored and removed again counts twice, and Spark reads it once. Of what is missing Delta tells.
        if len(set(files)) < len(files) or not all(Path(file).exists() for file in files):
            return None
    stored = columns_alone(feed.table.schema().to_json())
    typed = StructType([*stored.fields, StructField(CHANGE_TYPE, StringType())])
    parts = [
        spark.read.schema(stored).parquet(*files).selectExpr("*", _kind(kind))
        if kind
        else spark.read.schema(typed).parquet(*files)
        for kind, files in feed.files.items()
        if files
    ]
    return reduce(lambda whole, part: whole.unionAll(part), parts)


def _kind(value: str) -> str:
    return named(exp.Literal.string(value), CHANGE_TYPE).sql("spark")


def _find(relation: Relation, covered: TableRange, features: frozenset[str]) -> _Feed | None:
    """Of each commit of the range its change files, or where it has none, the files that it added and removed."""
    place = normalize_location(relation.location)
    before, after = (open_as_stored(place, version, features) for version in (covered.from_version, covered.to_version))
    path = local_path(place)
    if before is None or after is None or path is None or not _same_table(before, after):
        return None
    files: dict[str, list[str]] = {"": [], **{kind: [] for kind in _KINDS.values()}}
    try:
        for version in range(covered.from_version + 1, covered.to_version + 1):
            for kind, found in _files(path, version, _columns(after.schema().to_json())).items():
                files[kind] += found
    except (_LeftToDelta, OSError, ValueError) as error:
        logger.info("the change feed of %s is left to Delta Lake: %s", relation.name, type(error).__name__)
        return None
    return _Feed(after, files)


def _files(table: Path, version: int, columns: list[Any]) -> dict[str, list[str]]:
    actions = _actions(table, version, columns)
    if actions["cdc"]:
        used = {"": actions["cdc"]}
    else:
        used = {change: [file for file in actions[kind] if file["dataChange"]] for kind, change in _KINDS.items()}
    if any(ODD.search(file["path"]) or file.get("deletionVector") for files in used.values() for file in files):
        raise _LeftToDelta
    return {kind: [str(table / file["path"]) for file in files] for kind, files in used.items()}


def _actions(table: Path, version: int, columns: list[Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"cdc": [], "add": [], "remove": []}
    with commit_file(table, version).open(encoding="utf-8") as lines:
        for line in lines:
            for kind, action in json.loads(line).items():
                if kind in found:
                    found[kind].append(action)
                elif kind == "metaData" and (
                    action["configuration"].get(_FEED) != "true" or _columns(action["schemaString"]) != columns
                ):
                    raise _LeftToDelta
    return found


def _columns(schema: str) -> list[Any]:
    """Names and types of Spark's JSON."""
    return [(field["name"], field["type"]) for field in json.loads(schema)["fields"]]


def _read(feed: _Feed, stored: pa.Schema, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for kind, files in feed.files.items():
        for batch in _rows(files, stored if kind else schema):
            if not kind:
                yield batch
                continue
            types = pa.array([kind]).take(pa.array([0] * batch.num_rows, pa.int8()))
            yield pa.RecordBatch.from_arrays([*batch.columns, types], schema=schema)


def _rows(files: list[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    if files:
        paths = [Path(file) for file in files]
        if differ_to_arrow(paths, schema):
            raise _LeftToDelta
        yield from stored_rows(paths, schema).to_batches(use_threads=len(files) > 1)


def _same_table(before: deltalake.DeltaTable, after: deltalake.DeltaTable) -> bool:
    """One table with one set of columns, whose feed is on at both ends."""
    if before.metadata().id != after.metadata().id or before.schema() != after.schema():
        return False
    return all(table.metadata().configuration.get(_FEED) == "true" for table in (before, after))


def _is_plain(table: deltalake.DeltaTable) -> bool:
    types = [getattr(field.type, "type", "") for field in table.schema().fields]
    return all(name in _PLAIN or name.startswith("decimal") for name in types)
