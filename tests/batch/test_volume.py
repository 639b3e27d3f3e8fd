"""How many rows commits changed, by the metrics of Delta Lake and of delta-rs."""

from __future__ import annotations

from datetime import datetime

import pytest

from ivm_core.batch.model import Commit
from ivm_core.batch.volume import changed_rows


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
    found = tuple((name, str(count)) for name, count in metrics.items())
    assert changed_rows([Commit(1, datetime(2026, 1, 1), operation, (), found)]) == rows
