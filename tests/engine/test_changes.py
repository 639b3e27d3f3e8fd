"""Changes are the net difference of two versions, however the commits between them made it, with or without a feed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ivm_core.batch.classify import range_class
from ivm_core.batch.model import CommitClass, TableRange
from ivm_core.engine import changes as changes_module
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import STATE_TABLE, Relation
from ivm_core.engine.slices import Expected
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

STATEMENTS = (
    "INSERT INTO {t} VALUES (1, 'a', 1.5D), (1, 'a', 1.5D), (2, NULL, DOUBLE('NaN'))",
    "UPDATE {t} SET other = other WHERE k = 1",
    "DELETE FROM {t} WHERE k = 2",
    "INSERT INTO {t} VALUES (2, NULL, DOUBLE('NaN')), (3, 'c', -0.0D)",
    "UPDATE {t} SET name = 'b' WHERE k = 1",
    "OPTIMIZE {t}",
    "INSERT OVERWRITE {t} VALUES (3, 'c', 0.0D), (4, 'd', 4D)",
    "RESTORE TABLE {t} TO VERSION AS OF 2",
    "TRUNCATE TABLE {t}",
)


@pytest.fixture(scope="module", params=["feed", "no feed"])
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    """A table that went through ``STATEMENTS``."""
    path = str(tmp_path_factory.mktemp("tables") / "my table")
    feed = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')" if request.param == "feed" else ""
    spark.sql(f"CREATE TABLE delta.`{path}` (k INT, name STRING, other DOUBLE) USING DELTA {feed}").collect()
    for statement in STATEMENTS:
        spark.sql(statement.format(t=f"delta.`{path}`")).collect()
    return path


@pytest.fixture
def cache(spark: SparkSession, spark_settings: Settings) -> Iterator[ChangeCache]:
    with ChangeCache(spark, spark_settings) as opened:
        yield opened


def relation(path: str, visible_sql: str | None = None) -> Relation:
    return Relation("t", path, "id", (("k", "int"), ("name", "string"), ("other", "double")), visible_sql)


def contents(spark: SparkSession, path: str, version: int, columns: list[str]) -> Counter[Any]:
    frame = spark.read.format("delta").option("versionAsOf", version).load(path)
    return Counter(tuple(map(str, row)) for row in frame.selectExpr(*columns).collect())


def covered(path: str, start: int, end: int) -> TableRange:
    commits = TableLog(path).commits(start, end)
    return TableRange("t", "id", start, end, range_class(commits, start, end))


@pytest.mark.parametrize("columns", [["k", "name", "other"], ["name"]], ids=["all columns", "one column"])
def test_before_plus_changes_is_after(spark: SparkSession, cache: ChangeCache, table: str, columns: list[str]) -> None:
    last = TableLog(table).version()
    shown = [f"CAST({name} AS STRING) AS {name}" for name in columns]  # which tells −0.0 from 0.0
    for start, end in [(0, 1), (0, 5), (2, 4), (4, 7), (0, last)]:
        changes = cache.read(relation(table), covered(table, start, end), columns)
        total = contents(spark, table, start, shown)
        for row in changes.frame.selectExpr(*shown, "__ivm_weight").collect():
            total[tuple(map(str, row[:-1]))] += row[-1]
        assert +total == contents(spark, table, end, shown), (start, end)
        assert not -total
        rows = changes.frame.count()
        if changes.netted:
            assert rows == changes.frame.selectExpr(*shown).distinct().count()


def test_an_insert_only_range_takes_nothing_away(cache: ChangeCache, table: str) -> None:
    changes = cache.read(relation(table), covered(table, 0, 1), ["k", "name"])
    assert (changes.inserted, changes.deleted) == (3, 0)


def test_one_reading_serves_all_views(spark: SparkSession, spark_settings: Settings, table: str) -> None:
    with ChangeCache(lambda: spark, spark_settings, {"t": {"K", "name"}}) as cache:
        first = cache.read(relation(table), covered(table, 0, 4), ["k"])
        second = cache.read(relation(table), covered(table, 0, 4), ["NAME"])
        assert len(cache._read) == 1
        for changes, asked in ((first, "k"), (second, "name")):
            assert changes.frame.columns in ([asked, "__ivm_weight"], ["k", "name", "__ivm_weight"])


@pytest.mark.parametrize("looked_up", [frozenset(), frozenset({"t"})])
def test_many_changes_are_held_where_their_keys_are_asked_for(
    spark: SparkSession,
    spark_settings: Settings,
    table: str,
    monkeypatch: pytest.MonkeyPatch,
    looked_up: frozenset[str],
) -> None:
    monkeypatch.setattr(changes_module, "NOT_LOOKED_UP", 2)
    with ChangeCache(spark, spark_settings, expected=lambda: Expected(looked_up=looked_up)) as cache:
        changes = cache.read(relation(table), covered(table, 0, 1), ["k", "name"])
        assert (changes.rows, changes.relation.here is not None) == (3, bool(looked_up))


def test_views_share_one_relation_where_projecting_cancels_nothing(
    spark: SparkSession, spark_settings: Settings, tmp_path: Path
) -> None:
    path = str(tmp_path / "shared")
    spark.sql(
        f"CREATE TABLE delta.`{path}` (k INT, name STRING, other INT) USING DELTA "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    ).collect()
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 'a', 1), (2, 'a', 2)").collect()
    spark.sql(f"UPDATE delta.`{path}` SET k = k + 10, other = 0 WHERE k = 1").collect()
    shown = Relation("t", path, "id", (("k", "int"), ("name", "string"), ("other", "int")))
    with ChangeCache(spark, spark_settings, needed={"t": ("k", "name", "other")}) as cache:
        for start, columns, shared in [(0, ["name"], True), (1, ["k", "name"], True), (1, ["name"], False)]:
            whole = cache.read(shown, covered(path, start, start + 1), ["k", "name", "other"])
            fewer = cache.read(shown, covered(path, start, start + 1), columns)
            assert (fewer.relation is whole.relation) == shared, columns
        assert fewer.rows == 0


def test_changes_of_a_view_are_seen_through_its_select(spark: SparkSession, cache: ChangeCache, table: str) -> None:
    visible = f"SELECT UPPER(`name`) AS `label` FROM `{STATE_TABLE}` WHERE `k` < 4"
    view = Relation("t", table, "id", (("label", "string"),), visible)
    changes = cache.read(view, covered(table, 2, 5), ["label"])
    found = {row["label"]: row["__ivm_weight"] for row in changes.frame.collect()}
    assert found == {"A": -2, "B": 2, "C": 1}


def test_an_empty_range_has_no_changes(cache: ChangeCache, table: str) -> None:
    changes = cache.read(relation(table), TableRange("t", "id", 3, 3, CommitClass.NOOP), ["k"])
    assert (changes.rows, changes.frame.count()) == (0, 0)


def test_a_frame_is_not_taken_for_another_that_had_its_place_in_memory(cache: ChangeCache, spark: SparkSession) -> None:
    names = {cache.share(spark.range(number)) for number in range(20)}  # each of them dies at once but for the cache
    assert len(names) == 20
    assert sorted(spark.table(name).count() for name in names) == list(range(20))
