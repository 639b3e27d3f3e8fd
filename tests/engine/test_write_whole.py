"""A state computed anew: only what differs is a change to its readers, and whatever the table is, it becomes right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from ivm_core.batch.classify import classify
from ivm_core.batch.model import CommitClass
from ivm_core.cost.model import Reason
from ivm_core.engine import queries, rows_here, write, write_whole
from ivm_core.engine.log import TableLog
from ivm_core.errors import QueryFails
from ivm_core.settings import Settings
from tests.engine import jobs
from tests.engine.shop import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

JOBS = {"bag": jobs.FULL_BAG, "merged groups": jobs.FULL_GROUPS, "replaced groups": jobs.FULL_REPLACED}
IDS = ("__ivm_batch", "__ivm_row")


@pytest.fixture
def shop(spark: SparkSession, warehouse: Path, spark_settings: Settings) -> Iterator[Shop]:
    yield Shop(spark, warehouse, spark_settings)


def feed(shop: Shop, version: int) -> Counter[Any]:
    """What the commit says to readers, without the ids of rows."""
    reader = shop.spark.read.format("delta").option("readChangeFeed", "true")
    frame = reader.option("startingVersion", version).option("endingVersion", version).load(shop.state)
    hidden = (*IDS, "_commit_version", "_commit_timestamp")
    return Counter(tuple(row) for row in frame.drop(*hidden).collect())


def operation(shop: Shop) -> str:
    (last,) = (shop.spark.sql(f"DESCRIBE HISTORY delta.`{shop.state}` LIMIT 1")).collect()
    return str(last["operation"])


@pytest.mark.parametrize("name", JOBS)
def test_only_rows_that_differ_are_changes(shop: Shop, name: str) -> None:
    job = JOBS[name]
    shop.apply(job)
    before = shop.rows()
    shop.change("INSERT INTO {t} VALUES ('a', 9), ('z', 5)", "DELETE FROM {t} WHERE item = 'b'")
    applied = shop.apply(job)
    after = shop.recomputed(job)
    assert shop.rows() == after and applied.inserted == after.total()
    deleted = Counter({(*row, "delete"): count for row, count in (before - after).items()})
    inserted = Counter({(*row, "insert"): count for row, count in (after - before).items()})
    assert before & after and feed(shop, applied.state_version) == deleted + inserted
    log = TableLog(shop.state)
    (commit,) = log.commits(applied.state_version - 1, log.version())
    assert (log.transaction_version("view-1"), commit.user_metadata) == (2, '{"batch": 2}')


def test_rows_of_a_bag_that_stay_keep_their_ids(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    shop.change("INSERT INTO {t} VALUES ('a', 1.5), ('z', 5)", "DELETE FROM {t} WHERE item = 'b'")
    shop.apply(jobs.FULL_BAG)
    rows = shop.spark.read.format("delta").load(shop.state).collect()
    assert Counter((row["item"], row["__ivm_batch"]) for row in rows) == {
        ("a", 1): 3,
        ("a", 2): 1,
        ("z", 2): 1,
        (None, 1): 1,
    }
    assert len({(row["__ivm_batch"], row["__ivm_row"]) for row in rows}) == len(rows)


@pytest.mark.parametrize("name", JOBS)
def test_a_refresh_that_finds_the_same_rows_is_no_change(shop: Shop, name: str) -> None:
    shop.apply(JOBS[name])
    start = TableLog(shop.state).version()
    applied = shop.apply(JOBS[name])
    log = TableLog(shop.state)
    assert classify(log.commits(start, applied.state_version)) is CommitClass.NOOP
    assert log.transaction_version("view-1") == 2


def test_a_state_with_a_missing_file_is_written_by_spark(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    for file in Path(shop.state).glob("*.parquet"):
        file.unlink()
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG) and operation(shop) == "WRITE"


def test_a_state_with_a_damaged_file_is_written_by_spark(shop: Shop) -> None:
    shop.apply(jobs.FULL_GROUPS)
    for file in Path(shop.state).glob("*.parquet"):
        file.write_bytes(b"no Parquet")
    for checksum in Path(shop.state).glob(".*.parquet.crc"):
        checksum.unlink()
    shop.apply(jobs.FULL_GROUPS)
    assert shop.rows() == shop.recomputed(jobs.FULL_GROUPS) and operation(shop) == "WRITE"


def test_other_columns_are_written_by_spark(shop: Shop) -> None:
    for job in (jobs.FULL_BAG, jobs.FULL_GROUPS, jobs.FULL_BAG, jobs.FULL_REPLACED):
        shop.apply(job)
        assert shop.rows() == shop.recomputed(job) and operation(shop) == "WRITE"


def test_far_more_rows_than_are_stored_are_written_by_spark(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.apply(jobs.FULL_BAG)
    monkeypatch.setattr(write, "MOST_MORE", 1)
    shop.change("INSERT INTO {t} VALUES ('a', 2)")
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG) and operation(shop) != "WRITE"
    shop.change("INSERT INTO {t} VALUES ('a', 3), ('b', 3)")
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG) and operation(shop) == "WRITE"


def test_a_large_state_is_written_by_spark(shop: Shop) -> None:
    limits = shop.settings.limits.model_copy(update={"replace_rows": 0})
    shop.settings = shop.settings.model_copy(update={"limits": limits})
    for _ in range(2):
        shop.apply(jobs.FULL_GROUPS)
        assert operation(shop) == "WRITE"


@pytest.mark.parametrize("reason", [Reason.REQUESTED, Reason.STATE_CHANGED])
def test_who_asks_for_a_refresh_gets_a_table_of_which_nothing_is_left(shop: Shop, reason: Reason) -> None:
    shop.apply(jobs.FULL_BAG)
    shop.spark.sql(f"UPDATE delta.`{shop.state}` SET __ivm_row = 0").collect()  # rows that one id would take away
    shop.apply(replace(jobs.FULL_BAG, reason=reason))
    rows = shop.spark.read.format("delta").load(shop.state).collect()
    assert operation(shop) == "WRITE" and {row["__ivm_batch"] for row in rows} == {2}
    assert len({row["__ivm_row"] for row in rows}) == len(rows)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG)


def test_ids_of_another_type_are_written_by_spark(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    other = (
        shop.spark.read.format("delta")
        .load(shop.state)
        .selectExpr("item", "amount", *(f"int(pmod({i}, 1000003)) {i}" for i in IDS))
    )
    other.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(shop.state)
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG) and operation(shop) == "WRITE"
    assert dict(shop.spark.read.format("delta").load(shop.state).dtypes)["__ivm_row"] == "bigint"


def _too_many_bytes(*_: object) -> None:
    raise PySparkException("Total size of serialized results is bigger than spark.driver.maxResultSize")


def _too_long_texts(*_: object) -> None:
    raise pa.ArrowCapacityError("array cannot contain more than 2147483646 bytes")


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [(write_whole, "_MOST_HELD", 0), (queries, "fetch", _too_many_bytes), (rows_here, "bag_of", _too_long_texts)],
    ids=["in memory", "from Spark", "to Arrow"],
)
def test_too_many_bytes_are_written_by_spark(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, value: Any
) -> None:
    shop.apply(jobs.FULL_BAG)
    shop.change("INSERT INTO {t} VALUES ('a', 3), ('b', 3)")
    monkeypatch.setattr(module, name, value)
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG) and operation(shop) == "WRITE"


def test_a_query_that_fails_changes_nothing(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    before, version = shop.rows(), TableLog(shop.state).version()
    failing = replace(
        jobs.FULL_BAG.steps[0], sql="SELECT item, CAST(1 / (amount - 9) AS DECIMAL(10,2)) AS amount FROM sales_after"
    )
    with pytest.raises(QueryFails):
        shop.apply(replace(jobs.FULL_BAG, steps=(failing,)))
    assert (shop.rows(), TableLog(shop.state).version()) == (before, version)


def test_a_state_that_another_wrote_to_becomes_right(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    shop.spark.sql(f"DELETE FROM delta.`{shop.state}` WHERE item = 'a'").collect()
    shop.spark.sql(f"INSERT INTO delta.`{shop.state}` VALUES ('foreign', 1, 1, 0)").collect()
    shop.apply(jobs.FULL_BAG)
    assert shop.rows() == shop.recomputed(jobs.FULL_BAG)


def test_the_commit_has_a_change_file(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    shop.change("INSERT INTO {t} VALUES ('z', 5)")
    applied = shop.apply(jobs.FULL_BAG)
    commit = Path(shop.state) / "_delta_log" / f"{applied.state_version:020}.json"
    kinds = Counter(next(iter(json.loads(line))) for line in commit.read_text().splitlines())
    assert kinds["cdc"] == kinds["add"] == 1 and kinds["remove"] >= 1
