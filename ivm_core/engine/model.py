"""What the adapter takes and returns: relations, the view's state, the tag of a commit, what was applied."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ivm_core.errors import ConcurrentCommit

__all__ = ["LENGTH", "STATE_TABLE", "Applied", "CommitTag", "ConcurrentCommit", "Relation", "State", "StateTarget"]

LENGTH = "__CHAR_VARCHAR_TYPE_STRING"  # in Spark's metadata of a column: its type, or one within it, that has a length
STATE_TABLE = "__ivm_state"  # the name that a view's visible SELECT uses for its state table


@dataclass(frozen=True, slots=True)
class Relation:
    """A Delta table that batches read, at ``location`` (a local path or a URL).

    ``columns``: name and Spark type of each column a reader sees. ``rows``: about how many (None: unknown).
    ``visible_sql``: for a view, the SELECT over ``STATE_TABLE`` that turns the rows stored at ``location`` into the
    view's rows; None for an ordinary table, and where it leaves out hidden columns and does nothing else. ``row_wise``: it
    takes each stored row by itself.
    """

    name: str
    location: str
    table_id: str
    columns: tuple[tuple[str, str], ...]
    visible_sql: str | None = None
    rows: int | None = None
    row_wise: bool = True


# A view's table is a base table of the views above it, which read its changes.
STATE_PROPERTIES = (("delta.enableChangeDataFeed", "true"),)


@dataclass(frozen=True, slots=True)
class StateTarget:
    """Where a view's state table is, or is to be. ``properties`` are given to the table when it is created."""

    name: str
    location: str
    properties: tuple[tuple[str, str], ...] = STATE_PROPERTIES


@dataclass(frozen=True, slots=True)
class State:
    """A state table as a batch finds it. ``version`` None: it does not exist. ``rows`` None: unknown, taken as many.

    ``size``: bytes of its files.
    """

    target: StateTarget
    version: int | None = None
    rows: int | None = None
    size: int = 0

    @property
    def location(self) -> str:
        return self.target.location


@dataclass(frozen=True, slots=True)
class CommitTag:
    """What the view's commit carries: Delta's ``txnAppId``, ``txnVersion`` and ``userMetadata``."""

    app_id: str
    txn_version: int
    user_metadata: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """What one batch did to the state table: rows by kind, and the version that its commit made.

    ``skipped``: the table already had this or a later batch and nothing was written.
    """

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    state_version: int = -1
    skipped: bool = False
    counted: bool = True  # False: the rows are to be taken from the commit's metrics

    def at(self, version: int | None) -> Applied:
        """With the version of the state, where it is known already."""
        return self if version is None else replace(self, state_version=version)

    @property
    def rows_changed(self) -> int:
        return self.inserted + self.updated + self.deleted
