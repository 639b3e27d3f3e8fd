"""What keeps a state table quick to read after many small commits: fewer files, and a checkpoint of its log.

Neither changes a row: the compaction's commit says so itself, and whoever reads the table's changes finds none in it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply.names import spark_sql
from ivm_core.engine.direct import DirectState
from ivm_core.engine.location import local_path
from ivm_core.engine.log import TableLog
from ivm_core.engine.log_by_spark import delta_path
from ivm_core.engine.log_files import open_state
from ivm_core.engine.own_settings import run_with

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL_BYTES = 16 << 20  # opening and planning a file costs as much as reading so much of it
TARGET_BYTES = 4 * SMALL_BYTES  # larger files stay as they are: rewriting a large state would cost more than it gains
_SIZES = {
    "spark.databricks.delta.optimize.minFileSize": SMALL_BYTES,
    "spark.databricks.delta.optimize.maxFileSize": TARGET_BYTES,
}


def count_small_files(location: str, spark: SparkSession | None) -> int:
    """How many of the newest version's files are so small that fewer, larger ones would be read faster."""
    log = TableLog(location, spark)
    table = open_state(log.location)
    if table is None:
        size = log.size()
        return size.files if size.size_bytes < size.files * SMALL_BYTES else 0
    sizes = table.get_add_actions(flatten=True).column("size_bytes")
    return sum(int(size.as_py()) < SMALL_BYTES for size in sizes)


def compact(spark: SparkSession, location: str) -> None:
    """Put small files together, in one commit that moves no row. Another writer's commit meanwhile makes it fail."""
    direct = DirectState.open(location, TableLog(location, spark).version())
    if direct is not None and direct.compact(SMALL_BYTES):
        return
    optimize = exp.Command(this="OPTIMIZE", expression=spark_sql(delta_path(TableLog(location, spark).location)))
    run_with(spark, spark_sql(optimize), {key: str(value) for key, value in _SIZES.items()})


def commits_since_checkpoint(location: str) -> int | None:
    """How many commits a reader of the log goes through after its last checkpoint; None where this process cannot tell."""
    path = local_path(location)
    if path is None:
        return None
    log = path / "_delta_log"
    newest = max((int(file.stem) for file in log.glob("*.json") if file.stem.isdigit()), default=-1)
    try:
        last = int(json.loads((log / "_last_checkpoint").read_text("utf-8"))["version"])
    except (OSError, ValueError, KeyError):
        last = -1
    return newest - last


def write_checkpoint(location: str) -> bool:
    """Write a checkpoint of the newest version where this process can as Delta does; Spark's commits write their own."""
    table = open_state(location)
    if table is None:
        return False
    table.create_checkpoint()
    return True
