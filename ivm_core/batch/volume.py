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
