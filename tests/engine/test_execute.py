"""Every kind of write, on small and on large states, leaves what a full computation gives; failures leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from ivm_core.batch.model import CommitClass
from ivm_core.engine import write
from ivm_core.engine.commit import typed_failures
from ivm_core.engine.log import TableLog
from ivm_core.errors import ConcurrentCommit, DriftError
from ivm_core.settings import Settings
from tests.engine import jobs
from tests.engine.shop import Shop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAIRS = {
    "bag": (jobs.FULL_BAG, jobs.BAG),
    "merged groups": (jobs.FULL_GROUPS, jobs.MERGE),
    "replaced groups": (jobs.FULL_REPLACED, jobs.REPLACE),
}
# Each: a name and the statements of one batch on {t}.
BATCHES = {
    "insert": ["INSERT INTO {t} VALUES ('a', 0.5), ('new', 7), (NULL, 1), ('a', 1.5)"],
    "delete one of two equal rows": [
        "DELETE FROM {t} WHERE item = 'c'",
        "UPDATE {t} SET amount = 2.5 WHERE item = 'b'",
    ],
    "delete the extremes": ["DELETE FROM {t} WHERE amount = 9 OR amount = 1.5"],
    "delete a group and put it back": ["DELETE FROM {t} WHERE item = 'a'", "INSERT INTO {t} VALUES ('a', 4)"],
    "delete the null group": ["DELETE FROM {t} WHERE item IS NULL"],
    "move rows between groups": ["UPDATE {t} SET item = 'b', amount = amount + 1 WHERE item = 'a'"],
    "everything goes": ["DELETE FROM {t}"],
    "nothing in effect": ["INSERT INTO {t} VALUES ('x', 5)", "DELETE FROM {t} WHERE item = 'x'"],
}


WAYS = ("rewritten", "apart", "by files", "merged")


@pytest.fixture(params=WAYS)
def limits(request: pytest.FixtureRequest, spark_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """States of any size are rewritten whole; only their files with rows that a batch may touch are, small states or not;
    or all are merged into.
    """
    rows = {"merged": 0, "by files": 1}.get(request.param, 100_000)
    if request.param in ("apart", "by files"):
        monkeypatch.setattr(write, "WHOLE_ROWS", 0)
    return spark_settings.model_copy(
        update={"limits": spark_settings.limits.model_copy(update={"replace_rows": rows, "pushdown_cap": 3})}
    )


@pytest.fixture
def shop(spark: SparkSession, warehouse: Path, limits: Settings) -> Iterator[Shop]:
    yield Shop(spark, warehouse, limits)


# Of the eight batches every second one in the ordinary run, each state in two of the four ways; all with the slow tests.
HALVES = [
    pytest.param(way, pair, tuple(BATCHES)[1::2], id=f"{way}-{pair}-half")
    for place, way in enumerate(WAYS)
    for other, pair in enumerate(PAIRS)
    if (place + other) % 2 == 0
]
ALL = [
    pytest.param(way, pair, tuple(BATCHES), id=f"{way}-{pair}-all", marks=pytest.mark.slow)
    for way in WAYS
    for pair in PAIRS
]


@pytest.mark.parametrize(("limits", "pair", "batches"), HALVES + ALL, indirect=["limits"])
def test_batches_leave_what_a_full_computation_gives(shop: Shop, pair: str, batches: tuple[str, ...]) -> None:
    full, incremental = PAIRS[pair]
    shop.apply(full)
    for number, (name, statements) in enumerate(((name, BATCHES[name]) for name in batches), start=2):
        shop.change(*statements)
        kind = CommitClass.INSERT_ONLY if name == "insert" else CommitClass.MUTATING
        applied = shop.apply(incremental, kind)
        assert not applied.skipped
        assert TableLog(shop.state).transaction_version("view-1") == number
        assert shop.rows() == shop.recomputed(full), name
        if name == "everything goes":
            shop.change("INSERT INTO {t} VALUES ('a', 3), ('a', 3), ('b', 2)")


@pytest.mark.parametrize("pair", PAIRS)
def test_a_number_is_applied_once(shop: Shop, pair: str) -> None:
    full, incremental = PAIRS[pair]
    shop.apply(full)
    shop.change(*BATCHES["move rows between groups"])
    stood = shop.stands
    first = shop.apply(incremental)
    rows, version = shop.rows(), first.state_version
    shop.stands = stood
    again = shop.apply(incremental, number=shop.number)
    assert again.skipped
    assert (shop.rows(), TableLog(shop.state).version()) == (rows, version)


def test_a_missing_row_is_drift(shop: Shop) -> None:
    shop.apply(jobs.FULL_BAG)
    version = TableLog(shop.state).version()
    shop.spark.sql(f"DELETE FROM delta.`{shop.state}` WHERE item = 'b'").collect()
    shop.change("DELETE FROM {t} WHERE item = 'b'")
    with pytest.raises(DriftError, match="does not fit its query"):
        shop.apply(jobs.BAG)
    assert TableLog(shop.state).version() == version + 1
    assert TableLog(shop.state).transaction_version("view-1") == 1


def test_a_negative_count_is_drift(shop: Shop) -> None:
    shop.apply(jobs.FULL_GROUPS)
    shop.spark.sql(f"UPDATE delta.`{shop.state}` SET __ivm_count = 1 WHERE item = 'a'").collect()
    version = TableLog(shop.state).version()
    shop.change("DELETE FROM {t} WHERE item = 'a'")
    with pytest.raises(DriftError, match="lost more rows"):
        shop.apply(jobs.MERGE)
    assert TableLog(shop.state).version() == version


def test_a_concurrent_writer_wins(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another writer commits between the reading of the state and the batch's own commit."""
    from ivm_core.engine import commit
    from ivm_core.engine.direct import DirectState

    shop.apply(jobs.FULL_GROUPS)
    shop.change(*BATCHES["insert"])
    monkeypatch.setattr(commit, "_tagged", _meanwhile(commit._tagged, shop))
    monkeypatch.setattr(commit, "execute", _fail_with_conflict)
    fitted = DirectState.fitted

    def another_commits_first(state: DirectState, rows: Any) -> Any:
        shop.spark.sql(f"DELETE FROM delta.`{shop.state}` WHERE item = 'c'").collect()
        return fitted(state, rows)

    monkeypatch.setattr(DirectState, "fitted", another_commits_first)
    with pytest.raises(ConcurrentCommit):
        shop.apply(jobs.MERGE)
    assert TableLog(shop.state).transaction_version("view-1") == 1


def _meanwhile(_: Any, shop: Shop) -> Any:
    def refuse(*_: Any) -> Any:
        return _fail_with_conflict(shop.spark, None, type("S", (), {"location": shop.state})(), None)

    return refuse


def _fail_with_conflict(spark: SparkSession, statement: Any, state: Any, tag: Any) -> None:
    from pyspark.errors import PySparkException

    from ivm_core.engine.commit import typed_failures

    with typed_failures(state.location):
        raise PySparkException("[DELTA_CONCURRENT_APPEND] a file was added")


def test_a_statement_that_mentions_drift_is_no_drift(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match="no_such_column"), typed_failures("somewhere"):
        spark.sql("SELECT if(no_such_column < 0, raise_error('IVM_DRIFT: lost more rows'), 1)").collect()
