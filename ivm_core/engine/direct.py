"""States on local paths, read and committed by this process: a job and a commit of Spark's own cost seconds, these 20 ms
and what the rows take.

The commit is an ordinary Delta commit with the batch's transaction number and metadata, refused where another commit came
first. Only states whose types and table features this writer and Delta treat alike are taken.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import deltalake
import pyarrow as pa
from deltalake.exceptions import CommitFailedError, DeltaError

from ivm_core.engine.location import local_path
from ivm_core.engine.log_files import differ_to_arrow, open_state, stored_rows
from ivm_core.engine.model import CommitTag
from ivm_core.engine.split_state import Apart, files_of, take_files_apart
from ivm_core.engine.state_files import put_together, replace_rows
from ivm_core.errors import ConcurrentCommit
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN

logger = logging.getLogger(__name__)

_PLAIN = frozenset(
    {"string", "long", "integer", "short", "byte", "float", "double", "boolean", "binary", "date", "timestamp"}
)


# A file of the state is gone or damaged: Spark tells which. ValueError is of days that Python has not.
_UNREADABLE = (OSError, ValueError, pa.ArrowException, DeltaError)


@dataclass(frozen=True, slots=True)
class DirectState:
    """A state table at one version."""

    location: str
    table: deltalake.DeltaTable
    schema: pa.Schema

    @classmethod
    def open(cls, location: str, version: int) -> DirectState | None:
        """The state at the version; None where it is better left to Spark."""
        table = open_state(location, version)
        if table is None or not all(_plain(field.type) for field in table.schema().fields):
            return None
        schema, path = pa.schema(table.schema().to_arrow()), local_path(location)
        assert path is not None, "open_state opens local paths"
        try:
            old = differ_to_arrow((path / name for name, _ in files_of(table)), schema)
        except _UNREADABLE:
            return None
        return None if old else cls(location, table, schema)

    def whole(self) -> Apart | None:
        """All rows, none of them aside; None where they cannot be read."""
        path = local_path(self.location)
        assert path is not None, "open_state opens local paths"
        nothing = self.schema.empty_table()
        try:
            # By the files: delta-rs makes Python's dates of the log's bounds, which end with the year 9999.
            files = files_of(self.table)
            rows = stored_rows((path / name for name, _ in files), self.schema).to_table() if files else nothing
        except _UNREADABLE:
            return None
        return Apart(rows, nothing, files)

    def has_more(self, columns: Sequence[str]) -> bool:
        """Whether the state has columns beside these, which somebody added: Spark leaves them empty."""
        return not {*columns, BATCH_COLUMN, ROW_COLUMN}.issuperset(self.schema.names)

    def fitted(self, rows: pa.Table, names: Sequence[str] | None = None) -> pa.Table | None:
        """The rows under exactly the state's types, None where they have others; ``names``: only these columns of both."""
        have = rows.select([n for n in names if n in rows.column_names]) if names is not None else rows
        if have.schema.names != list(names or self.schema.names):
            return None
        schema = pa.schema([self.schema.field(name) for name in have.schema.names])
        if any(_kind(one) != _kind(other) for one, other in zip(have.schema.types, schema.types, strict=True)):
            return None
        columns = [column.cast(type_) for column, type_ in zip(have.columns, schema.types, strict=True)]
        return pa.Table.from_arrays(columns, schema=schema)

    def append(self, rows: pa.Table, tag: CommitTag) -> int:
        """Add the fitted rows to the state; returns the version. Raises ConcurrentCommit."""
        return self.replace(Apart(self.schema.empty_table(), self.schema.empty_table(), ()), rows, tag)

    def apart(self, batch: pa.Table, keys: Sequence[str]) -> Apart | None:
        """The rows that a batch with these keys may touch, with those in the same files; None where Spark should look."""
        path = local_path(self.location)
        try:
            return take_files_apart(path, self.table, self.schema, batch, keys) if path is not None else None
        except _UNREADABLE:
            return None

    def replace(self, apart: Apart, rows: pa.Table, tag: CommitTag) -> int:
        """Put the fitted rows in the place of those shown; returns the version. Raises ConcurrentCommit."""
        path = local_path(self.location)
        assert path is not None, "open_state opens local paths"
        try:
            if not replace_rows(path, int(self.table.version()), apart, rows, tag):
                return self.mark(tag)
        except FileExistsError as error:
            raise overtaken(self.table) from error
        committed = int(self.table.version()) + 1
        self.table.update_incremental()
        if self.table.version() == committed:  # else another writer went on meanwhile, and writes its own checkpoints
            _checkpoint(self.table)
        return committed

    def compact(self, below: int) -> bool:
        """Put the files of fewer bytes together; False where this process does not. Raises ConcurrentCommit."""
        path = local_path(self.location)
        assert path is not None, "open_state opens local paths"
        try:
            return put_together(path, self.table, self.schema, below)
        except FileExistsError as error:
            raise overtaken(self.table) from error

    def mark(self, tag: CommitTag) -> int:
        """Record the batch in a commit without rows; returns the version. Raises ConcurrentCommit."""
        properties = commit_properties(tag, {"operationMetrics": {"numOutputRows": "0", "numRemovedFiles": "0"}})
        try:
            self.table.create_write_transaction(
                [], mode="append", schema=self.table.schema(), commit_properties=properties
            )
        except CommitFailedError as error:
            raise overtaken(self.table) from error
        self.table.update_incremental()
        return int(self.table.version())


def _checkpoint(table: deltalake.DeltaTable) -> None:
    """Write a checkpoint where the newest version is due for one, and drop what of the log is past its retention.

    A batch does not fail for want of it.
    """
    properties = table.metadata().configuration
    if table.version() % int(properties.get("delta.checkpointInterval", "10")) == 0:
        try:
            table.create_checkpoint()
            if properties.get("delta.enableExpiredLogCleanup", "true").lower() == "true":
                table.cleanup_metadata()
        except (DeltaError, OSError) as error:
            logger.warning("no checkpoint of %s was written: %s", table.table_uri, error)


def commit_properties(tag: CommitTag, metadata: dict[str, Any] | None = None) -> deltalake.CommitProperties:
    return deltalake.CommitProperties(
        custom_metadata={**(metadata or {}), **({"userMetadata": tag.user_metadata} if tag.user_metadata else {})},
        app_transactions=[deltalake.Transaction(tag.app_id, tag.txn_version)],
        max_commit_retries=0,
    )


def overtaken(table: deltalake.DeltaTable) -> ConcurrentCommit:
    return ConcurrentCommit(
        f"Another writer changed {table.table_uri} while this batch was computed. Nothing was written; run it again."
    )


def _plain(type_: Any) -> bool:
    name = getattr(type_, "type", "")
    return name in _PLAIN or name.startswith("decimal")


def _kind(type_: pa.DataType) -> pa.DataType:
    """The type without what only Arrow tells apart: time zones (all are instants in UTC) and widths of offsets."""
    if pa.types.is_timestamp(type_):
        return pa.timestamp(type_.unit, tz="UTC" if type_.tz else None)
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return pa.string()
    if pa.types.is_large_binary(type_) or pa.types.is_binary_view(type_):
        return pa.binary()
    return type_
