"""Which data files this process reads as Spark does: by whom they say that they were written."""

from __future__ import annotations

import threading
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ivm_core.engine import log_files
from ivm_core.engine.log_files import IN_NEW_CALENDAR, differ_to_arrow

ROWS = pa.table({"k": [1], "day": pa.array([date(1500, 2, 10)])})


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("1.6.0", True),
        ("2.4.8", True),
        ("3.0.3", True),
        ("3.1.0", False),
        ("3.5.1", False),
        ("4.2.0", False),
        (None, False),
    ],
)
def test_days_of_files_by_older_writers_are_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, old: bool
) -> None:
    monkeypatch.setattr(log_files, "UNMARKED_ARE_OTHER", threading.Event())
    file = tmp_path / "1.parquet"
    marked = {next(iter(IN_NEW_CALENDAR)): version} if version is not None else None
    pq.write_table(ROWS.replace_schema_metadata(marked), file)
    assert differ_to_arrow([file], ROWS.schema) is old
    assert not differ_to_arrow([file], ROWS.select(["k"]).schema), "without days"
    log_files.UNMARKED_ARE_OTHER.set()
    assert differ_to_arrow([file], ROWS.schema) is (old or version is None)
    assert not differ_to_arrow([file], ROWS.select(["k"]).schema)
