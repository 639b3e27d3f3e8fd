"""What a measurement counts: what Spark reads, what this process opens itself, and what commits write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from bench.meter import Cost, Meter, sum_of
from ivm_core.engine.log_files import stored_rows


@pytest.mark.spark
def test_rows_of_spark_and_of_files_that_this_process_opens_are_read(spark: SparkSession, tmp_path: Path) -> None:
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    for file, rows in ((here, 30), (there, 500)):
        pq.write_table(pa.table({"a": range(rows)}), file)

    def work() -> int:
        with ThreadPoolExecutor(1) as pool:  # views are maintained by threads
            few = pool.submit(stored_rows([here], pa.schema({"a": pa.int64()})).count_rows).result()
        return few + spark.read.parquet(str(there)).filter("a >= 0").count()

    answer, cost = Meter(spark).measure(work)
    assert answer == 530
    if cost.rows_read is not None:  # Spark Connect does not tell
        assert cost.rows_read == 530 and cost.bytes_read > here.stat().st_size
    stored_rows([here], pa.schema({"a": pa.int64()}))  # nobody counts any more
    _, cost = Meter(spark).measure(lambda: None)
    assert not cost.rows_read


@pytest.mark.spark
def test_rows_and_bytes_of_all_tables_that_are_written_count(spark: SparkSession, tmp_path: Path) -> None:
    tables = [str(tmp_path / name) for name in ("a", "b")]

    def work() -> None:
        for rows, table in zip((3, 4), tables, strict=True):
            spark.range(rows).write.format("delta").save(table)

    _, cost = Meter(spark).measure(work, *tables)
    assert cost.rows_written == 7 and cost.bytes_written > 0


def test_what_is_not_known_of_any_is_not_known_of_all() -> None:
    assert sum_of([Cost(1.0, 2, None), Cost(2.0, None, None)]) == Cost(3.0, 2, None)
