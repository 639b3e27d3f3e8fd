"""What a run of commits can have done to a table's rows, from the operation names in its log.

Operation names are Delta Lake 4.4's. Only names known to be harmless count as harmless: an unknown one is mutating.
"""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.batch.model import Commit, CommitClass

# Commits that change metadata or move rows between files.
NOOP_OPERATIONS = frozenset(
    {
        "ADD COLUMNS",
        "ADD CONSTRAINT",
        "CHANGE COLUMN",
        "CHANGE COLUMNS",
        "CLUSTER BY",
        "COMPUTE STATS",
        "CREATE TABLE",
        "DOMAIN METADATA CLEANUP",
        "DROP CONSTRAINT",
        "DROP FEATURE",
        "OPTIMIZE",
        "OPTIMIZE CHECKPOINT",
        "REMOVE COLUMN MAPPING",
        "REORG",
        "REORG TABLE UPGRADE UNIFORM",
        "ROW TRACKING BACKFILL",
        "ROW TRACKING UNBACKFILL",
        "SET TBLPROPERTIES",
        "UNSET TBLPROPERTIES",
        "UPDATE COLUMN METADATA",
        "UPDATE SCHEMA",
        "UPGRADE PROTOCOL",
        "VACUUM END",
        "VACUUM START",
    }
)
# Commits after which every column is the one that had its name before, in a table where columns can be dropped.
KEEPS_COLUMNS = NOOP_OPERATIONS - {"CHANGE COLUMN", "CHANGE COLUMNS", "UPDATE SCHEMA", "UPDATE COLUMN METADATA"} | {
    "COPY INTO",
    "DELETE",
    "MERGE",
    "STREAMING UPDATE",
    "TRUNCATE",
    "UPDATE",
    "WRITE",
}
INSERT_OPERATIONS = frozenset({"COPY INTO", "CREATE TABLE AS SELECT"})
REPLACE_OPERATIONS = frozenset(
    {
        "CLONE",
        "CONVERT",
        "CREATE OR REPLACE TABLE",
        "CREATE OR REPLACE TABLE AS SELECT",
        "REPLACE TABLE",
        "REPLACE TABLE AS SELECT",
        "RESTORE",
        "TRUNCATE",
    }
)
# A row was inserted, updated or deleted only if one of these is above zero.
ROW_METRICS = {
    "DELETE": ("numDeletedRows", "numRemovedFiles"),
    "UPDATE": ("numUpdatedRows", "numRemovedFiles"),
    "MERGE": (
        "numTargetRowsInserted",
        "numTargetRowsUpdated",
        "numTargetRowsDeleted",
        "numTargetFilesAdded",
        "numTargetFilesRemoved",
    ),
}
_SEVERITY = (CommitClass.NOOP, CommitClass.INSERT_ONLY, CommitClass.MUTATING, CommitClass.REPLACED)


def classify(commits: Iterable[Commit]) -> CommitClass:
    """The worst that any of the commits did.

    >>> from datetime import datetime
    >>> classify([Commit(1, datetime(2026, 1, 1), "WRITE", (("mode", "Append"),))])
    <CommitClass.INSERT_ONLY: 'insert_only'>
    """
    return max(map(classify_commit, commits), key=_SEVERITY.index, default=CommitClass.NOOP)


def range_class(commits: Iterable[Commit], start: int, end: int) -> CommitClass:
    """The class of the versions (start, end], mutating where a commit of them is unknown."""
    if start >= end:
        return CommitClass.NOOP
    known = [commit for commit in commits if start < commit.version <= end]
    found = classify(known)
    if len({commit.version for commit in known}) == end - start or found is CommitClass.REPLACED:
        return found
    return CommitClass.MUTATING


def classify_commit(commit: Commit) -> CommitClass:
    """What one commit did, judged by operation name, mode and row counts."""
    parameters, metrics = dict(commit.parameters), dict(commit.metrics)
    operation = commit.operation.upper()
    if operation in NOOP_OPERATIONS:
        return CommitClass.NOOP
    if operation in INSERT_OPERATIONS:
        return CommitClass.INSERT_ONLY
    if operation in REPLACE_OPERATIONS:
        return CommitClass.REPLACED
    if operation in ("WRITE", "STREAMING UPDATE"):
        return _classify_write(parameters, metrics)
    if operation in ROW_METRICS:
        # Metrics can be switched off: without any, rows may have changed.
        known = [int(metrics[name]) for name in ROW_METRICS[operation] if name in metrics]
        if known and not any(known):
            return CommitClass.NOOP
        if operation == "MERGE" and _only_inserts(metrics):
            return CommitClass.INSERT_ONLY
    return CommitClass.MUTATING


def _classify_write(parameters: dict[str, str], metrics: dict[str, str]) -> CommitClass:
    mode = parameters.get("mode", parameters.get("outputMode", "")).lower()
    if mode == "append":
        if metrics.get("numOutputRows") == "0" and metrics.get("numRemovedFiles", "0") == "0":
            return CommitClass.NOOP
        return CommitClass.INSERT_ONLY
    if mode == "overwrite" and "predicate" not in parameters:
        return CommitClass.REPLACED
    return CommitClass.MUTATING


def _only_inserts(metrics: dict[str, str]) -> bool:
    untouched = ("numTargetRowsUpdated", "numTargetRowsDeleted", "numTargetFilesRemoved")
    return all(metrics.get(name) == "0" for name in untouched)
