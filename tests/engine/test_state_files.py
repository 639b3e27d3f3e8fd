"""States changed file by file: the rows, what the change feed says of them, and what stays untouched."""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ivm_core.batch.classify import classify
from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.batch.volume import changed_rows
from ivm_core.engine import split_state, state_files
from ivm_core.engine.direct import DirectState
from ivm_core.engine.feed_files import read_feed
from ivm_core.engine.log import TableLog
from ivm_core.engine.log_entries import commit_file
from ivm_core.engine.model import CommitTag, Relation
from ivm_core.errors import ConcurrentCommit

FEED = {"delta.enableChangeDataFeed": "true"}
TAG = CommitTag("view-1", 2, '{"batch": 2}')
TYPES = {
    "k": pa.int64(),
    "name": pa.string(),
    "day": pa.date32(),
    "amount": pa.decimal128(12, 2),
    "at": pa.timestamp("us", tz="UTC"),
}


def rows(*keys: int | None, name: str | None = "x") -> pa.Table:
    values = [(k, name, date(2026, 1, 1 + (k or 0) % 28), Decimal(k or 0), k) for k in keys]
    columns = zip(*values, strict=True) if values else [()] * len(TYPES)
    return pa.table([pa.array(c, t) for c, t in zip(columns, TYPES.values(), strict=True)], names=list(TYPES))


@pytest.fixture
def location(tmp_path: Path) -> str:
    """A state of three files: 0 to 9, 10 to 19, and NULL."""
    place = str(tmp_path / "a state")
    deltalake.write_deltalake(place, rows(*range(10)), configuration=FEED)
    deltalake.write_deltalake(place, rows(*range(10, 20)), mode="append")
    deltalake.write_deltalake(place, rows(None, None), mode="append")
    return place


def opened(location: str) -> DirectState:
    state = DirectState.open(location, TableLog(location).version())
    assert state is not None
    return state


def keys(*values: int | None) -> pa.Table:
    return pa.table({"k": pa.array(values, pa.int64())})


def files(location: str) -> set[str]:
    return set(deltalake.DeltaTable(location).file_uris())


def stored(location: str) -> list[dict[str, object]]:
    return sorted(opened(location).whole().shown.to_pylist(), key=str)


def expected(*tables: pa.Table) -> list[dict[str, object]]:
    return sorted(pa.concat_tables(tables).to_pylist(), key=str)


def feed(location: str, version: int) -> list[tuple[str, object]]:
    changes = pa.table(deltalake.DeltaTable(location).load_cdf(version, version).read_all())
    return sorted(
        zip(changes.column("_change_type").to_pylist(), changes.column("k").to_pylist(), strict=True), key=str
    )


def test_only_files_with_touched_rows_are_written_anew(location: str) -> None:
    state, before = opened(location), files(location)
    apart = state.apart(keys(3, 5, 77), ["k"])
    assert apart is not None and len(apart.files) == 1
    assert sorted(apart.shown.column("k").to_pylist()) == [3, 5] and apart.aside.num_rows == 8
    new = pa.concat_tables([rows(5), rows(77, name="new")])
    version = state.replace(apart, new, TAG)
    assert len(files(location) & before) == 2
    assert stored(location) == expected(rows(0, 1, 2, 4, *range(5, 20), None, None), rows(77, name="new"))
    assert feed(location, version) == [("delete", 3), ("insert", 77)]
    log = TableLog(location)
    assert (log.version(), log.transaction_version("view-1")) == (version, 2)
    (commit,) = log.commits(version - 1, version)
    assert commit.user_metadata == '{"batch": 2}'
    assert (classify((commit,)), changed_rows((commit,))) == (CommitClass.MUTATING, 2)


def test_files_whose_bounds_leave_the_keys_out_are_not_opened(location: str) -> None:
    state = opened(location)
    for file in Path(location).glob("*.parquet"):
        if pq.read_table(file).column("k")[0].as_py() != 0:
            file.unlink()
    apart = state.apart(keys(3, 25), ["k"])
    assert apart is not None and apart.shown.column("k").to_pylist() == [3] and apart.aside.num_rows == 9
    assert state.apart(keys(15), ["k"]) is None  # its file is gone: Spark is to tell


def test_every_key_must_be_within_a_files_bounds(location: str) -> None:
    state = opened(location)
    for file in Path(location).glob("*.parquet"):
        file.unlink()
    batch = keys(3).append_column("day", pa.array([date(2026, 1, 25)]))
    apart = state.apart(batch, ["k", "day"])
    assert apart is not None and apart.files == ()


def test_null_is_a_key_and_copies_are_counted(location: str) -> None:
    state = opened(location)
    apart = state.apart(keys(None), ["k"])
    assert apart is not None and apart.shown.num_rows == 2
    version = state.replace(apart, rows(None, None, None), TAG)
    assert feed(location, version) == [("insert", None)]
    state = opened(location)
    apart = state.apart(keys(None), ["k"])
    assert apart is not None
    version = state.replace(apart, rows(), CommitTag("view-1", 3))
    assert feed(location, version) == [("delete", None)] * 3
    assert stored(location) == expected(rows(*range(20)))


def test_new_rows_alone_touch_no_file(location: str) -> None:
    state, before = opened(location), files(location)
    apart = state.apart(keys(100), ["k"])
    assert apart is not None and not apart.files
    version = state.replace(apart, rows(100), TAG)
    assert before < files(location)
    assert feed(location, version) == [("insert", 100)]


def test_many_rows_are_written_as_several_files(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_files, "_ROWS_OF_A_FILE", 3)
    state = opened(location)
    version = state.replace(state.whole(), rows(*range(1, 20), None, None), TAG)
    assert stored(location) == expected(rows(*range(1, 20), None, None))
    assert len(files(location)) == 7 and feed(location, version) == [("delete", 0)]


@pytest.mark.parametrize("rows_of_a_file", [4, 1000])
def test_rows_beside_those_touched_need_not_be_held(
    location: str, monkeypatch: pytest.MonkeyPatch, rows_of_a_file: int
) -> None:
    """Of many the rest is read again as it is written, file by file; of a file whose rows all go nothing is left."""
    most = max(split_state.decoded_bytes(file) for file in Path(location).glob("*.parquet"))
    monkeypatch.setattr(split_state, "MOST_HELD", most + most // 2)
    monkeypatch.setattr(state_files, "_ROWS_OF_A_FILE", rows_of_a_file)
    state, before = opened(location), files(location)
    apart = state.apart(keys(3, 15, None), ["k"])
    assert apart is not None and len(apart.files) == 3
    assert [part.number for part in apart.left] == [9, 9] and apart.aside.num_rows == 0
    version = state.replace(apart, rows(15, 77), TAG)
    assert stored(location) == expected(rows(*range(3), *range(4, 20), 77))
    assert feed(location, version) == [("delete", 3), ("delete", None), ("delete", None), ("insert", 77)]
    assert not files(location) & before and len(files(location)) == (7 if rows_of_a_file == 4 else 3)
    [commit] = TableLog(location).commits(version - 1, version)
    assert dict(commit.metrics)["numOutputRows"] == "20"


def test_rows_that_stay_the_same_are_a_mark(location: str) -> None:
    state, before = opened(location), files(location)
    apart = state.apart(keys(3), ["k"])
    assert apart is not None
    version = state.replace(apart, rows(3), TAG)
    log = TableLog(location)
    assert classify(log.commits(version - 1, version)) is CommitClass.NOOP and files(location) == before
    assert log.transaction_version("view-1") == 2


def test_the_second_of_two_writers_fails(location: str) -> None:
    first, second = opened(location), opened(location)
    apart = second.apart(keys(3), ["k"])
    assert apart is not None
    first.append(rows(50), CommitTag("other", 1))
    with pytest.raises(ConcurrentCommit, match="Nothing was written"):
        second.replace(apart, rows(), TAG)
    assert TableLog(location).transaction_version("view-1") is None
    assert stored(location) == expected(rows(*range(20), 50, None, None))
    assert not list((Path(location) / "_delta_log").glob("*.tmp"))


def test_what_this_process_should_not_hold_is_left_to_spark(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state = opened(location)
    assert state.apart(pa.table({"k": ["3"]}), ["k"]) is None
    for limit in ("HERE", "MOST_BYTES", "MOST_FILES", "MOST_HELD"):
        with monkeypatch.context() as patched:
            patched.setattr(split_state, limit, 1)
            assert state.apart(keys(3, 5), ["k"]) is None


def test_statistics_bound_what_a_file_holds(location: str) -> None:
    state = opened(location)
    apart = state.apart(keys(*range(10)), ["k"])
    assert apart is not None
    long = "ä" * 40
    state.replace(apart, pa.concat_tables([rows(1, name="a"), rows(9, name=long), rows(4, name=None)]), TAG)
    actions = pa.table(deltalake.DeltaTable(location).get_add_actions(flatten=True))
    (found,) = actions.filter(pc.equal(actions.column("num_records"), 3)).to_pylist()
    assert (found["min.k"], found["max.k"], found["null_count.name"]) == (1, 9, 1)
    assert (found["min.day"], found["max.day"]) == (date(2026, 1, 2), date(2026, 1, 10))
    assert found["min.name"] == "a" and found["max.name"] is None


def test_values_that_python_cannot_hold_have_no_bounds(tmp_path: Path) -> None:
    """Spark's years go beyond 9999, and its strings may be any bytes."""
    far = pa.array([3_000_000, 0], pa.int32()).cast(pa.date32())
    text = pa.array([b"\xff\xfe", b"a"]).view(pa.string())
    table = pa.table({"k": pa.array([1, 2]), "day": far, "text": text})
    place = str(tmp_path / "odd")
    deltalake.write_deltalake(place, table.slice(1), configuration=FEED)
    state = opened(place)
    apart = state.apart(table, ["k", "day", "text"])
    assert apart is not None
    state.replace(apart, table, TAG)
    whole = opened(place).whole().shown
    assert whole.column("day").cast(pa.int32()).to_pylist() == [3_000_000, 0]
    assert whole.column("text").combine_chunks().view(pa.binary()).to_pylist() == [b"\xff\xfe", b"a"]
    (stats,) = [
        json.loads(json.loads(line)["add"]["stats"])
        for line in commit_file(Path(place), 1).read_text("utf-8").splitlines()
        if "add" in json.loads(line)
    ]
    assert stats["minValues"] == {"k": 1} and stats["nullCount"] == {"k": 0, "day": 0, "text": 0}


def test_checkpoints_are_written_in_their_turn(location: str) -> None:
    for number in range(12):
        state = opened(location)
        apart = state.apart(keys(3), ["k"])
        assert apart is not None
        state.replace(apart, rows(3, name=str(number)), CommitTag("view-1", 10 + number))
    assert list((Path(location) / "_delta_log").glob("*10.checkpoint.parquet"))
    assert len(stored(location)) == 22


def test_a_state_written_whole_feeds_what_changed(location: str) -> None:
    state, before = opened(location), files(location)
    version = state.replace(state.whole(), rows(*range(1, 20), None, None), TAG)
    assert feed(location, version) == [("delete", 0)] and not files(location) & before
    assert stored(location) == expected(rows(*range(1, 20), None, None))


def numbers(**values: float | None) -> pa.Table:
    return pa.table({"k": pa.array(values, pa.string()), "x": pa.array(values.values(), pa.float64())})


@pytest.fixture
def floating(tmp_path: Path) -> str:
    place = str(tmp_path / "floating")
    deltalake.write_deltalake(place, numbers(a=-0.0, b=math.nan, c=1.5, d=None), configuration=FEED)
    return place


def test_floating_point_numbers_change_by_their_bits(floating: str) -> None:
    state = opened(floating)
    apart = state.apart(pa.table({"k": ["a", "b", "c", "d"], "x": [0.0] * 4}), ["k", "x"])
    assert apart is not None and apart.shown.num_rows == 4
    version = state.replace(apart, numbers(a=0.0, b=math.nan, c=1.5, d=None), TAG)
    changes = pa.table(deltalake.DeltaTable(floating).load_cdf(version, version).read_all())
    assert sorted(zip(changes["_change_type"].to_pylist(), map(str, changes["x"].to_pylist()), strict=True)) == [
        ("delete", "-0.0"), ("insert", "0.0"),
    ]  # fmt: skip
    assert opened(floating).apart(pa.table({"x": [1.5]}), ["x"]) is None


@pytest.mark.spark
def test_delta_finds_nan(spark, floating: str) -> None:
    """NaN is the largest number to Spark: statistics that leave it out would hide it from a filter."""
    state = opened(floating)
    state.replace(state.whole(), numbers(b=math.nan, c=1.5, e=7.0), TAG)
    state = opened(floating)
    state.append(numbers(f=math.nan), CommitTag("view-1", 3))
    found = spark.sql(f"SELECT k FROM delta.`{floating}` WHERE x > 100 ORDER BY k").collect()
    assert [row.k for row in found] == ["b", "f"]


@pytest.mark.spark
def test_delta_reads_the_same(spark, location: str) -> None:
    """Rows, and the feed of the whole history, as Delta's own reader has them; then its MERGE goes on."""
    state = opened(location)
    apart = state.apart(keys(3, 15, None), ["k"])
    assert apart is not None
    version = state.replace(apart, pa.concat_tables([rows(3, name="other"), rows(30)]), TAG)
    found = spark.read.format("delta").load(location).collect()
    assert sorted((r.k, r.name, r.amount) for r in found) == sorted(
        [(k, "x", Decimal(k)) for k in (*range(3), *range(4, 15), *range(16, 20), 30)] + [(3, "other", Decimal(3))]
    )
    assert {r.at.timestamp() for r in found if r.k == 3} == {3e-6}
    changes = spark.sql(f"SELECT * FROM table_changes_by_path('{location}', {version}, {version})").collect()
    assert sorted((r._change_type, str(r.k), r.name) for r in changes) == [
        ("delete", "15", "x"), ("delete", "3", "x"), ("delete", "None", "x"), ("delete", "None", "x"),
        ("insert", "3", "other"), ("insert", "30", "x"),
    ]  # fmt: skip
    assert spark.sql(f"SELECT count(*) FROM delta.`{location}` WHERE k = 3 AND day = DATE'2026-01-04'").first()[0] == 1
    spark.sql(f"DELETE FROM delta.`{location}` WHERE k = 30")
    assert len(stored(location)) == 19


FAR = [date(1600, 1, 1), date(9999, 12, 31)]
EXACT = [Decimal("1234567890123456.78"), Decimal("0.33")]


@pytest.fixture
def by_spark(tmp_path: Path) -> str:
    """A state of two files as Spark writes them, instants as INT96, and of two that this process wrote."""
    place = tmp_path / "by spark"
    schema = pa.schema([("k", pa.int64()), ("at", pa.timestamp("us", tz="UTC")), ("d", pa.decimal128(18, 2))])
    table = deltalake.DeltaTable.create(str(place), schema=schema, configuration=FEED)
    for number, (day, exact) in enumerate(zip(FAR, EXACT, strict=True)):
        instants = pa.array([day], pa.date32()).cast(pa.timestamp("us", tz="UTC"))
        file = pa.table([pa.array([number]), instants, pa.array([exact], schema.field("d").type)], schema=schema)
        pq.write_table(file, place / f"{number}.parquet", use_deprecated_int96_timestamps=True, store_schema=False)
        size = (place / f"{number}.parquet").stat().st_size
        added = {"path": f"{number}.parquet", "partitionValues": {}, "size": size, "modificationTime": 1}
        actions = [{"commitInfo": {"operation": "WRITE"}}, {"add": {**added, "dataChange": True, "stats": "{}"}}]
        state_files._publish(commit_file(place, number + 1), actions)
    table = deltalake.DeltaTable(str(place))
    state = DirectState(str(place), table, schema)
    for number in (2, 3):
        state.append(file.set_column(0, "k", pa.array([number])), CommitTag("view-1", number))
    return str(place)


def instants(location: str) -> dict[int, int]:
    rows = opened(location).whole().shown
    return dict(zip(rows.column("k").to_pylist(), rows.column("at").cast(pa.int64()).to_pylist(), strict=True))


def test_files_are_put_together_without_a_change(by_spark: str) -> None:
    before, version = instants(by_spark), TableLog(by_spark).version()
    assert len(set(before.values())) == 2
    assert opened(by_spark).compact(1 << 20)
    assert len(files(by_spark)) == 1 and instants(by_spark) == before
    assert classify(TableLog(by_spark).commits(version, version + 1)) is CommitClass.NOOP
    actions = [json.loads(line) for line in commit_file(Path(by_spark), version + 1).read_text("utf-8").splitlines()]
    [stats] = [json.loads(action["add"]["stats"]) for action in actions if "add" in action]
    assert list(stats["minValues"]) == ["k"]
    assert not opened(by_spark).compact(1 << 20), "one file is as few as can be"


def test_files_of_narrow_rows_are_put_together_by_their_bytes(by_spark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of as many rows as a file usually has they would be small again, and put together for ever."""
    monkeypatch.setattr(state_files, "_ROWS_OF_A_FILE", 1)
    assert len(files(by_spark)) > 1
    assert opened(by_spark).compact(1 << 20)
    assert len(files(by_spark)) == 1


@pytest.mark.spark
def test_days_of_old_are_those_of_the_new_calendar_whatever_the_session_takes_them_for(spark, location: str) -> None:
    old = rows(50).set_column(2, "day", pa.array([date(1500, 2, 10)]))
    state = opened(location)
    fitted = state.fitted(old)
    assert fitted is not None
    state.append(fitted, TAG)
    mode = "spark.sql.parquet.datetimeRebaseModeInRead"
    before = spark.conf.get(mode)
    spark.conf.set(mode, "LEGACY")
    try:
        assert spark.read.format("delta").load(location).where("k = 50").first().day == date(1500, 2, 10)
    finally:
        spark.conf.set(mode, before)


@pytest.mark.parametrize("key", ["legacyDateTime", "legacyINT96"])
def test_files_in_the_old_calendar_are_left_to_spark(by_spark: str, key: str) -> None:
    [file] = Path(by_spark).glob("1.parquet")
    rows = pq.ParquetFile(file).read()
    with pq.ParquetWriter(file, rows.schema) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata({f"org.apache.spark.{key}": ""})
    assert DirectState.open(by_spark, 4) is None
    assert DirectState.open(by_spark, 1) is not None, "the version before it"
    covered = TableRange("s.t", deltalake.DeltaTable(by_spark).metadata().id, 0, 4, CommitClass.INSERT_ONLY)
    relation = Relation(
        "s.t", by_spark, covered.table_id, (("k", "bigint"), ("at", "timestamp"), ("d", "decimal(18,2)"))
    )
    assert read_feed(relation, covered, frozenset({"k", "at"})) is None
    without = read_feed(relation, covered, frozenset({"k"}))
    assert without is not None and without.num_rows == 4


def test_files_are_put_together_once(by_spark: str) -> None:
    first, second = opened(by_spark), opened(by_spark)
    assert first.compact(1 << 20)
    with pytest.raises(ConcurrentCommit):
        second.compact(1 << 20)


@pytest.mark.spark
def test_delta_finds_all_rows_of_files_put_together(spark, by_spark: str) -> None:
    assert opened(by_spark).compact(1 << 20)
    found = spark.read.format("delta").load(by_spark)
    assert found.where("d = 1234567890123456.78BD").count() == 1
    assert found.where("at = TIMESTAMP'9999-12-31 00:00:00Z'").count() == 3
    assert found.where("at = TIMESTAMP'1600-01-01 00:00:00Z'").count() == 1
