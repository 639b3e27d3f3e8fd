"""How many rows commits changed, from their metrics alone: an estimate that costs no Spark job."""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.batch.classify import classify_commit
from ivm_core.batch.model import Commit, CommitClass

# Rows of change (an update is a deletion and an insertion) for each row that a metric counts; names_like_this are delta-rs's.
_METRICS = {
    "WRITE": (("numOutputRows", 1), ("num_added_rows", 1)),
    "STREAMING UPDATE": (("numOutputRows", 1),),
    "CREATE TABLE AS SELECT": (("numOutputRows", 1),),
    "DELETE": (("numDeletedRows", 1), ("num_deleted_rows", 1)),
    "UPDATE": (("numUpdatedRows", 2), ("num_updated_rows", 2)),
    "MERGE": (
        *(("numTargetRowsInserted", 1), ("numTargetRowsDeleted", 1), ("numTargetRowsUpdated", 2)),
        *(("num_target_rows_inserted", 1), ("num_target_rows_deleted", 1), ("num_target_rows_updated", 2)),
    ),
}
# Bytes, or files, that a commit which counts no rows took away and put in place; in delta-rs's words as well.
_MOVED_BYTES = ("removedFilesSize", "restoredFilesSize", "copiedFilesSize")
_ROW_BYTES = 100  # of a table that has no rows to tell
_MOVED_FILES = ("numRemovedFiles", "numRestoredFiles", "numCopiedFiles", "numRemovedFile", "numRestoredFile")


def changed_rows(commits: Iterable[Commit]) -> int:
    """Rows inserted plus rows deleted by the commits, as their metrics tell; commits without metrics count nothing.

    >>> from datetime import datetime
    >>> changed_rows([Commit(1, datetime(2026, 1, 1), "UPDATE", (), (("numUpdatedRows", "3"),))])
    6
    """
    total = 0
    for commit in commits:
        if classify_commit(commit) is CommitClass.NOOP:
            continue
        metrics = dict(commit.metrics)
        for name, factor in _METRICS.get(commit.operation.upper(), (("numOutputRows", 1),)):
            total += factor * int(metrics.get(name, 0))
    return total


def counts_no_rows(commit: Commit) -> bool:
    """Whether the commit may have changed every row, and tells of none, as RESTORE does."""
    return classify_commit(commit) is CommitClass.REPLACED and not changed_rows([commit])


def moved_rows(commits: Iterable[Commit], rows: int, size_bytes: int, files: int) -> int:
    """Rows, roughly, of the files that commits which count no rows took away and put in place (RESTORE, CLONE).

    ``rows``, ``size_bytes`` and ``files`` are the table's by now. All these rows are read to find those that changed, and
    at most all of them did.

    >>> from datetime import datetime
    >>> sizes = (("removedFilesSize", "30"), ("restoredFilesSize", "20"))
    >>> moved_rows([Commit(1, datetime(2026, 1, 1), "RESTORE", (), sizes)], rows=10_000, size_bytes=100, files=2)
    5000
    """
    of_byte, of_file = rows / size_bytes if rows else 1 / _ROW_BYTES, rows / files if files else 0.0
    total = 0.0
    for commit in commits:
        if counts_no_rows(commit):
            metrics = dict(commit.metrics)
            moved_bytes, moved_files = (
                sum(int(metrics.get(name, 0)) for name in names) for names in (_MOVED_BYTES, _MOVED_FILES)
            )
            total += moved_bytes * of_byte or moved_files * of_file
    return round(total)
