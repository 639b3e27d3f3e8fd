"""What a batch covers: exact versions of every base table, fixed before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a Delta table, as its log tells it (timestamp in UTC)."""

    version: int
    timestamp: datetime
    operation: str
    parameters: tuple[tuple[str, str], ...] = ()
    metrics: tuple[tuple[str, str], ...] = ()
    user_metadata: str | None = None


class CommitClass(StrEnum):
    """What a commit can have done to a table's rows."""

    NOOP = "noop"  # OPTIMIZE, VACUUM, properties: no row changed
    INSERT_ONLY = "insert_only"
    MUTATING = "mutating"
    REPLACED = "replaced"  # overwrite, truncate, restore: every row may have changed


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A base table at a version. ``table_id`` is Delta's own id: it changes when the table is dropped and created."""

    table: str
    table_id: str
    version: int


@dataclass(frozen=True, slots=True)
class Cut:
    """The versions that all views of a group run end at; ``as_of`` is the requested instant in UTC (None: newest)."""

    versions: tuple[TableVersion, ...]
    as_of: datetime | None = None

    def of(self, table: str) -> TableVersion | None:
        """The version of one base table, None where the cut does not name it."""
        return next((version for version in self.versions if version.table == table), None)


@dataclass(frozen=True, slots=True)
class TableRange:
    """The changes of one base table in a batch: versions (from_version, to_version]."""

    table: str
    table_id: str
    from_version: int
    to_version: int
    kind: CommitClass

    @property
    def empty(self) -> bool:
        """True where no row can differ between the two versions."""
        return self.from_version == self.to_version or self.kind is CommitClass.NOOP


@dataclass(frozen=True, slots=True)
class Batch:
    """One numbered batch of a view. The number is never bound to other ranges (it is Delta's ``txnVersion``)."""

    view: str
    number: int
    ranges: tuple[TableRange, ...]
    fingerprint: str

    @property
    def from_versions(self) -> dict[str, int]:
        return {item.table: item.from_version for item in self.ranges}

    @property
    def to_versions(self) -> dict[str, int]:
        return {item.table: item.to_version for item in self.ranges}

    @property
    def changed(self) -> frozenset[str]:
        """The base tables whose rows may differ."""
        return frozenset(item.table for item in self.ranges if not item.empty)
