"""Facts from a Delta table's log: versions, commits, ids, transactions; without a JVM where the log can be read directly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import deltalake
from deltalake.exceptions import TableNotFoundError

from ivm_core.batch.model import Commit
from ivm_core.batch.volume import counts_no_rows, moved_rows
from ivm_core.engine.location import local_path, normalize_location
from ivm_core.engine.log_by_spark import SparkLog, TableMissing
from ivm_core.engine.log_entries import read_entries
from ivm_core.engine.opened import open_at, open_newest
from ivm_core.errors import BaseTableError

DEFAULT_RETENTION = timedelta(days=7)
_AT_FIRST = 32  # commits that are read of a log whose history is gone through


@dataclass(frozen=True, slots=True)
class TableSize:
    """Rows (None: a file has no statistics), bytes and files of the newest version."""

    rows: int | None
    size_bytes: int
    files: int


class TableLog:
    """The log of the Delta table at ``location``, as it was when first asked; ``refresh`` looks again.

    ``spark`` is needed only for places that this process cannot read itself. Raises ``BaseTableError`` where there
    is no Delta table.
    """

    def __init__(self, location: str, spark: Any = None) -> None:
        self.location = normalize_location(location)
        self._spark = spark
        self._table: Any = None
        self._commits: list[Commit] = []  # newest first, a prefix of the history
        self._columns_at: dict[int, tuple[tuple[str, str], ...] | None] = {}

    @classmethod
    def exists(cls, location: str, spark: Any = None) -> bool:
        """True where a Delta table is at the location. Raises BaseTableError where the store does not tell."""
        path = local_path(location)
        if path is not None:
            return any((path / "_delta_log").glob("*.json")) or (path / "_delta_log" / "_last_checkpoint").exists()
        try:
            cls(location, spark).version()
        except TableMissing:
            return False
        return True

    def refresh(self) -> TableLog:
        """Forget what was read, so that the next question sees newer commits."""
        self._table, self._commits, self._columns_at = None, [], {}
        return self

    def table_id(self) -> str:
        """Delta's own id of the table: another one after DROP and CREATE."""
        return str(self._open().metadata().id)

    def version(self) -> int:
        """The newest version."""
        return int(self._open().version())

    def properties(self) -> dict[str, str]:
        """The table properties, such as ``delta.enableChangeDataFeed``."""
        return dict(self._open().metadata().configuration)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Name and Spark type of each column of the newest version."""
        return _columns(self._open())

    def columns_at(self, version: int) -> tuple[tuple[str, str], ...] | None:
        """The same of another version; None where it cannot be read any more."""
        if version not in self._columns_at:
            self._columns_at[version] = self._read_columns_at(version)
        return self._columns_at[version]

    def _read_columns_at(self, version: int) -> tuple[tuple[str, str], ...] | None:
        table = self._open()
        if isinstance(table, SparkLog):
            schema = table.schema_at(version)
            return None if schema is None else _names_and_types(schema)
        past = self._open_at(version)
        return None if past is None else _columns(past)

    def stored_names(self, version: int) -> dict[str, str]:
        """The name in data files of each column, in lower case, and of fields within; nothing where that cannot be told."""
        past = None if isinstance(self._open(), SparkLog) else self._open_at(version)
        if past is None:
            return {}
        fields = json.loads(past.schema().to_json())["fields"]
        return {field["name"].lower(): _stored_name(field) + _within(field["type"]) for field in fields}

    def _open_at(self, version: int) -> deltalake.DeltaTable | None:
        table = self._open()
        if version == self.version():
            return table
        try:
            path = local_path(self.location)
            return deltalake.DeltaTable(table.table_uri, version=version) if path is None else open_at(path, version)
        except deltalake.exceptions.DeltaError:
            return None

    def transaction_version(self, app_id: str) -> int | None:
        """The newest ``txnVersion`` committed under the application id, None where there is none."""
        return self._open().transaction_version(app_id)  # type: ignore[no-any-return]

    def size(self) -> TableSize:
        """Rows, bytes and files of the newest version."""
        table = self._open()
        if isinstance(table, SparkLog):
            size_bytes, files = table.size()
            return TableSize(None, size_bytes, files)
        actions = table.get_add_actions(flatten=True)
        records = (
            [value.as_py() for value in actions.column("num_records")] if "num_records" in actions.schema.names else []
        )
        sizes = [int(value.as_py()) for value in actions.column("size_bytes")]
        known = len(records) == len(sizes) and None not in records
        return TableSize(sum(records) if known else None, sum(sizes), len(sizes))

    def commits(self, after: int, to: int) -> tuple[Commit, ...]:
        """The commits of versions (after, to], oldest first; those whose log files are gone are missing."""
        if after >= to:
            return ()
        self._read_history(self.version() - after)
        return tuple(commit for commit in reversed(self._commits) if after < commit.version <= to)

    def moved_rows(self, after: int, to: int) -> int:
        """Rows, roughly, of the files that commits of (after, to] which count no rows took away and put in place."""
        commits = [commit for commit in self.commits(after, to) if counts_no_rows(commit)]
        size = self.size() if commits else None
        return moved_rows(commits, size.rows or 0, size.size_bytes, size.files) if size else 0

    def version_as_of(self, instant: datetime | None) -> int | None:
        """The newest version committed at or before the instant (None: now, the newest), None where all are later.

        As in Delta Lake, a commit counts as no earlier than the ones before it, whatever its writer's clock said.
        """
        if instant is None:
            return self.version()
        limit = 64
        while True:
            self._read_history(limit)
            window = self._commits[::-1]
            complete = len(window) < limit or not window
            if window and (complete or window[0].timestamp <= instant):
                found = None
                for commit in window:
                    if commit.timestamp > instant:
                        break
                    found = commit.version
                return found
            if complete:
                return None
            limit *= 4

    def earliest_readable(self, now: datetime | None = None) -> int:
        """The oldest version that time travel still allows: older than the retention of deleted files it is refused.

        Reads every commit within the retention; of a version that is known, ask ``is_readable``.
        """
        return min(self._readable(now))

    def is_readable(self, version: int, now: datetime | None = None) -> bool:
        """Whether the version can still be read, by the retention. Reads the commits since then, and none before."""
        newest = self.version()
        return version >= newest or any(one <= version for one in self._readable(now, newest - version + 1))

    def _readable(self, now: datetime | None, at_first: int = _AT_FIRST) -> Iterator[int]:
        """The versions whose files VACUUM leaves, newest first: the newest, and those before it without a gap.

        It counts from when a file was removed: a version stays whole for the retention after the next one came.
        """
        oldest_allowed = (now or datetime.now(UTC)) - self.retention()
        last = self.version()
        yield last
        for commit in self.newest_first(at_first):
            if commit.version < last - 1:
                return
            last = commit.version
            yield last
            if commit.timestamp < oldest_allowed:
                return

    def retention(self) -> timedelta:
        """``delta.deletedFileRetentionDuration``, seven days where it is not set."""
        text = self.properties().get("delta.deletedFileRetentionDuration")
        return parse_interval(text) if text else DEFAULT_RETENTION

    def newest_first(self, at_first: int = _AT_FIRST) -> Iterator[Commit]:
        """The commits, newest first, ``at_first`` of them read at once and then more."""
        seen, limit = 0, at_first
        while True:
            self._read_history(limit)
            more = self._commits[seen:]
            yield from more
            seen += len(more)  # whoever looks at the commits may have read more of them meanwhile
            if seen < limit:
                return
            limit = limit * 3 + 2

    def _read_history(self, limit: int) -> None:
        if len(self._commits) < limit:
            version = self.version()
            table, path = self._open(), local_path(self.location)
            entries = None
            if path is not None and not isinstance(table, SparkLog):
                entries = read_entries(path, version, limit)
            # Another reader may have seen newer commits than the version this log stands for.
            self._commits = [c for c in map(_commit, entries or table.history(limit)) if c.version <= version]

    def _open(self) -> Any:
        if self._table is None:
            self._table = self._load()
        return self._table

    def _load(self) -> Any:
        path = local_path(self.location)
        # delta-rs decodes paths twice: it cannot open a folder with a per cent sign in its name.
        if (path is None or "%" in str(path)) and self._spark is not None:
            return SparkLog(self._spark, self.location)
        try:
            return deltalake.DeltaTable(self.location) if path is None else open_newest(path)
        except TableNotFoundError as error:
            raise TableMissing(f"there is no Delta table at {self.location}") from error
        except (deltalake.exceptions.DeltaError, OSError) as error:
            raise BaseTableError(f"the Delta log at {self.location} cannot be read: {error}") from error


def parse_interval(text: str) -> timedelta:
    """A Delta interval property as a duration.

    >>> parse_interval("interval 1 week 12 hours")
    datetime.timedelta(days=7, seconds=43200)
    """
    words = text.lower().replace("interval", " ").split()
    total = timedelta()
    for number, unit in zip(words[::2], words[1::2], strict=True):
        plural = unit if unit.endswith("s") else unit + "s"
        total += timedelta(**{plural: float(number)})
    return total


def _stored_name(field: dict[str, Any]) -> str:
    return str(field["metadata"].get("delta.columnMapping.physicalName", field["name"]))


def _within(type_: Any) -> str:
    """The names in data files of a type's fields, as Spark's JSON has it, in order."""
    if not isinstance(type_, dict):
        return ""
    fields = [_stored_name(field) + _within(field["type"]) for field in type_.get("fields", ())]
    parts = [_within(type_.get(part)) for part in ("elementType", "keyType", "valueType")]
    return f"({','.join((*fields, *parts))})"


def _columns(table: deltalake.DeltaTable | SparkLog) -> tuple[tuple[str, str], ...]:
    from pyspark.sql.types import StructType

    if isinstance(table, SparkLog):
        return _names_and_types(table.schema())
    return _names_and_types(StructType.fromJson(json.loads(table.schema().to_json())))


def _names_and_types(schema: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, field.dataType.simpleString()) for field in schema.fields)


def _commit(entry: dict[str, Any]) -> Commit:
    # With in-commit timestamps Delta's own clock is authoritative.
    millis = entry.get("inCommitTimestamp") or entry.get("timestamp") or 0
    return Commit(
        version=int(entry["version"]),
        timestamp=datetime.fromtimestamp(int(millis) / 1000, UTC),
        operation=str(entry.get("operation") or ""),
        parameters=_pairs(entry.get("operationParameters")),
        metrics=_pairs(entry.get("operationMetrics")),
        user_metadata=entry.get("userMetadata"),
    )


def _pairs(values: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(values, str):
        values = json.loads(values)
    return tuple(sorted((str(key), str(value)) for key, value in (values or {}).items()))
