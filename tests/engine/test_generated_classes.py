"""The classes that Spark generates for a batch's queries serve the next one: compiling them takes longer than they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ivm_core.engine.queries import fetch, is_connect
from ivm_core.engine.small import ColumnValues, predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
COMPILING = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}


@pytest.fixture
def compiled(spark: SparkSession) -> Iterator[Callable[[], int]]:
    """How many classes were compiled so far, in a session that compiles."""
    if is_connect(spark):
        pytest.skip("a client cannot see what its server compiles")
    before = {key: spark.conf.get(key) for key in COMPILING}
    for key, value in COMPILING.items():
        spark.conf.set(key, value)
    session: Any = spark
    yield session._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME().getCount
    for key, value in before.items():
        spark.conf.set(key, value or "")


def rows_of(spark: SparkSession, folder: Path, type_: str) -> DataFrame:
    """A hundred stored rows."""
    spark.sql(f"SELECT CAST(id AS {type_}) AS v FROM range(100)").write.parquet(str(folder / "rows"))
    return spark.read.parquet(str(folder / "rows"))


@pytest.mark.parametrize(
    ("type_", "batches"),
    [
        ("bigint", ((None, 21, 99_993), (None, 35, 100_012))),
        ("int", (([4, 5, 60_000], 4, 60_000), ([7, 8, 9, 11], 7, 11))),
    ],
    ids=("range", "list"),
)
def test_other_keys(
    spark: SparkSession,
    tmp_path: Path,
    compiled: Callable[[], int],
    type_: str,
    batches: tuple[tuple[list[int] | None, int, int], ...],
) -> None:
    rows = rows_of(spark, tmp_path, type_)
    counts = [compiled()]
    for listed, low, high in batches:
        condition = predicate("v", "", ColumnValues(type_, listed, low, high, False), nulls=False)
        assert condition is not None
        rows.where(condition.sql("spark")).groupBy("v").count().collect()
        counts.append(compiled())
    assert counts[0] < counts[1] == counts[2]


def test_a_limited_union(spark: SparkSession, tmp_path: Path, compiled: Callable[[], int]) -> None:
    rows = rows_of(spark, tmp_path, "bigint")
    counts = [compiled()]
    for _ in range(2):
        fetch(rows.where("v > 5").unionAll(rows.where("v < 50")).limit(1000))
        counts.append(compiled())
    assert counts[0] < counts[1] == counts[2]
