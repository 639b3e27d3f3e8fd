"""Commits are classified by whitelists: what is not known to be harmless is not harmless."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ivm_core.batch.classify import classify, range_class
from ivm_core.batch.model import Commit, CommitClass

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

NOTHING_REMOVED = {"numTargetRowsDeleted": "0", "numTargetFilesRemoved": "0"}


def commit(operation: str, version: int = 1, **details: str) -> Commit:
    """A commit; ``mode`` is a parameter, names beginning with ``num`` are metrics."""
    metrics = {key: value for key, value in details.items() if key.startswith("num")}
    parameters = {key: value for key, value in details.items() if key not in metrics}
    return Commit(version, NOON, operation, tuple(parameters.items()), tuple(metrics.items()))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (commit("OPTIMIZE"), CommitClass.NOOP),
        (commit("VACUUM START"), CommitClass.NOOP),
        (commit("VACUUM END"), CommitClass.NOOP),
        (commit("SET TBLPROPERTIES"), CommitClass.NOOP),
        (commit("REORG"), CommitClass.NOOP),
        (commit("ADD COLUMNS"), CommitClass.NOOP),
        (commit("CREATE TABLE"), CommitClass.NOOP),
        (commit("WRITE", mode="Append", numOutputRows="3"), CommitClass.INSERT_ONLY),
        (commit("WRITE", mode="Append"), CommitClass.INSERT_ONLY),
        (commit("WRITE", mode="Append", numOutputRows="0"), CommitClass.NOOP),
        (commit("STREAMING UPDATE", outputMode="Append", numOutputRows="3"), CommitClass.INSERT_ONLY),
        (commit("STREAMING UPDATE", outputMode="Complete"), CommitClass.MUTATING),
        (commit("CREATE TABLE AS SELECT"), CommitClass.INSERT_ONLY),
        (commit("COPY INTO"), CommitClass.INSERT_ONLY),
        (commit("WRITE", mode="Overwrite"), CommitClass.REPLACED),
        (commit("WRITE", mode="Overwrite", predicate="a = 1"), CommitClass.MUTATING),
        (commit("TRUNCATE"), CommitClass.REPLACED),
        (commit("RESTORE"), CommitClass.REPLACED),
        (commit("REPLACE TABLE AS SELECT"), CommitClass.REPLACED),
        (commit("DELETE", numDeletedRows="2", numRemovedFiles="1"), CommitClass.MUTATING),
        (commit("DELETE", numDeletedRows="0", numRemovedFiles="0"), CommitClass.NOOP),
        (commit("DELETE", numRemovedFiles="1"), CommitClass.MUTATING),
        (commit("DELETE"), CommitClass.MUTATING),
        (commit("UPDATE", numUpdatedRows="0"), CommitClass.NOOP),
        (commit("UPDATE", numUpdatedRows="5"), CommitClass.MUTATING),
        (
            commit("MERGE", numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0"),
            CommitClass.NOOP,
        ),
        (
            commit("MERGE", numTargetRowsInserted="4", numTargetRowsUpdated="0", **NOTHING_REMOVED),
            CommitClass.INSERT_ONLY,
        ),
        (
            commit("MERGE", numTargetRowsInserted="4", numTargetRowsUpdated="1", numTargetFilesRemoved="1"),
            CommitClass.MUTATING,
        ),
        (commit("DROP COLUMNS"), CommitClass.MUTATING),
        (commit("RENAME COLUMN"), CommitClass.MUTATING),
        (commit("SOMETHING OF A LATER DELTA"), CommitClass.MUTATING),
        (commit(""), CommitClass.MUTATING),
    ],
)  # fmt: skip
def test_one_commit(found: Commit, expected: CommitClass) -> None:
    assert classify([found]) is expected


def test_the_worst_of_several_counts() -> None:
    insert, noop, delete = commit("WRITE", mode="Append"), commit("OPTIMIZE"), commit("DELETE", numDeletedRows="1")
    assert classify([noop, insert]) is CommitClass.INSERT_ONLY
    assert classify([insert, delete, noop]) is CommitClass.MUTATING
    assert classify([delete, commit("TRUNCATE")]) is CommitClass.REPLACED
    assert classify([]) is CommitClass.NOOP


def test_a_missing_commit_may_have_done_anything() -> None:
    assert range_class([commit("WRITE", 2, mode="Append")], 1, 2) is CommitClass.INSERT_ONLY
    assert range_class([commit("WRITE", 2, mode="Append")], 1, 3) is CommitClass.MUTATING
    assert range_class([commit("TRUNCATE", 2)], 1, 3) is CommitClass.REPLACED
    assert range_class([commit("TRUNCATE", 2)], 2, 2) is CommitClass.NOOP
