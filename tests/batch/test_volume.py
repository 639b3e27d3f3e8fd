"""How many rows commits changed, by the metrics of Delta Lake and of delta-rs."""

from __future__ import annotations

import doctest
from datetime import datetime

import pytest

from ivm_core.batch import volume
from ivm_core.batch.model import Commit
from ivm_core.batch.volume import changed_rows, moved_rows


@pytest.mark.parametrize(
    ("operation", "metrics", "rows"),
    [
        ("WRITE", {"numOutputRows": 4}, 4),
        ("WRITE", {"num_added_rows": 4}, 4),
        ("DELETE", {"numDeletedRows": 4}, 4),
        ("DELETE", {"num_deleted_rows": 4}, 4),
        ("UPDATE", {"numUpdatedRows": 4}, 8),
        ("UPDATE", {"num_updated_rows": 4}, 8),
        ("MERGE", {"numTargetRowsInserted": 1, "numTargetRowsDeleted": 2, "numTargetRowsUpdated": 3}, 9),
        ("MERGE", {"num_target_rows_inserted": 1, "num_target_rows_deleted": 2, "num_target_rows_updated": 3}, 9),
        ("DELETE", {}, 0),
    ],
)
def test_rows_of_a_commit(operation: str, metrics: dict[str, int], rows: int) -> None:
    assert changed_rows([commit(operation, metrics)]) == rows


@pytest.mark.parametrize(
    ("operation", "metrics", "rows"),
    [
        (
            "RESTORE",
            {"removedFilesSize": 100, "restoredFilesSize": 150, "numRemovedFiles": 3, "numRestoredFiles": 4},
            250,
        ),
        ("RESTORE", {"numRemovedFile": 3, "numRestoredFile": 2}, 500),  # delta-rs tells no bytes
        ("RESTORE", {"removedFilesSize": 0, "restoredFilesSize": 0}, 0),
        ("CLONE", {"removedFilesSize": 0, "copiedFilesSize": 400}, 400),
        ("RESTORE", {}, 0),  # metrics can be switched off
        ("WRITE", {"numOutputRows": 4, "numRemovedFiles": 3}, 0),  # counts its rows
        ("OPTIMIZE", {"numRemovedFiles": 3}, 0),
    ],
)
def test_rows_of_the_files_that_a_commit_without_counts_moved(
    operation: str, metrics: dict[str, int], rows: int
) -> None:
    assert moved_rows([commit(operation, metrics)], rows=1_000, size_bytes=1_000, files=10) == rows


def test_rows_are_guessed_of_a_table_that_has_none_by_now() -> None:
    assert moved_rows([commit("RESTORE", {"removedFilesSize": 10_000, "numRemovedFiles": 3})], 0, 0, 0) == 100
    assert moved_rows([commit("RESTORE", {"numRemovedFile": 3})], 0, 0, 0) == 0


def test_the_examples_in_the_text_hold() -> None:
    assert doctest.testmod(volume).failed == 0


def commit(operation: str, metrics: dict[str, int]) -> Commit:
    return Commit(1, datetime(2026, 1, 1), operation, (), tuple((name, str(count)) for name, count in metrics.items()))
