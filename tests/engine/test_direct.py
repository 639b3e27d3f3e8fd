"""Small states committed by this process: the same commits as Spark's, and none where another writer was first."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from ivm_core.batch.classify import classify
from ivm_core.batch.model import CommitClass
from ivm_core.engine.direct import DirectState
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import CommitTag
from ivm_core.errors import ConcurrentCommit

ROWS = pa.table(
    {
        "k": pa.array(["a", None], pa.string()),
        "n": pa.array([1, 2], pa.int64()),
        "d": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "at": pa.array([0, None], pa.timestamp("us", tz="UTC")),
    }
)


def create(folder: Path, rows: pa.Table = ROWS, **options: object) -> str:
    location = str(folder / "a state")
    deltalake.write_deltalake(location, rows, configuration={"delta.enableChangeDataFeed": "true"}, **options)
    return location


def opened(location: str) -> DirectState:
    state = DirectState.open(location, TableLog(location).version())
    assert state is not None
    return state


def test_an_overwrite_is_tagged(tmp_path: Path) -> None:
    location = create(tmp_path)
    state = opened(location)
    rows = state.fitted(ROWS.slice(0, 1))
    assert rows is not None
    version = state.replace(state.whole(), rows, CommitTag("view-1", 7, '{"batch": 7}'))
    log = TableLog(location)
    assert (log.version(), log.transaction_version("view-1")) == (version, 7)
    assert log.commits(0, version)[0].user_metadata == '{"batch": 7}'
    assert opened(location).whole().shown.to_pylist() == ROWS.slice(0, 1).to_pylist()


def test_a_mark_changes_no_row_and_says_so(tmp_path: Path) -> None:
    location = create(tmp_path)
    version = opened(location).mark(CommitTag("view-1", 3, "{}"))
    log = TableLog(location)
    assert log.transaction_version("view-1") == 3
    assert classify(log.commits(0, version)) is CommitClass.NOOP
    assert opened(location).whole().shown.num_rows == 2


def test_the_second_of_two_writers_fails(tmp_path: Path) -> None:
    location = create(tmp_path)
    first, second = opened(location), opened(location)
    first.append(ROWS, CommitTag("other", 1))
    with pytest.raises(ConcurrentCommit, match="Nothing was written"):
        second.replace(second.whole(), ROWS.slice(0, 1), CommitTag("view-1", 1))
    with pytest.raises(ConcurrentCommit, match="Nothing was written"):
        second.append(ROWS, CommitTag("view-1", 1))
    with pytest.raises(ConcurrentCommit):
        second.mark(CommitTag("view-1", 1))
    assert TableLog(location).transaction_version("view-1") is None


def test_rows_of_other_columns_or_types_do_not_fit(tmp_path: Path) -> None:
    state = opened(create(tmp_path))
    assert state.fitted(ROWS.drop_columns(["d"])) is None
    assert state.fitted(ROWS.set_column(1, "n", pa.array([1, 2], pa.int32()))) is None
    other_zone = ROWS.set_column(3, "at", ROWS.column("at").cast(pa.timestamp("us", tz="Europe/Berlin")))
    assert state.fitted(other_zone) == ROWS


def test_what_is_left_to_spark(tmp_path: Path) -> None:
    nested = create(tmp_path / "nested", pa.table({"x": pa.array([[1]], pa.list_(pa.int64()))}))
    assert DirectState.open(nested, 0) is None
    partitioned = create(tmp_path / "partitioned", partition_by=["n"])
    assert DirectState.open(partitioned, 0) is None
    assert DirectState.open("s3a://bucket/state", 0) is None
    assert DirectState.open(str(tmp_path / "per%20cent"), 0) is None
    assert DirectState.open(str(tmp_path / "nothing"), 0) is None


def test_a_damaged_file_is_left_to_spark(tmp_path: Path) -> None:
    location = create(tmp_path)
    for file in Path(location).glob("*.parquet"):
        file.write_bytes(b"no Parquet")
    assert DirectState.open(location, 0) is None
