"""TPC-H data: generated once by ``tpchgen-cli`` as Parquet, kept, and loaded into Delta base tables."""

from __future__ import annotations

import contextlib
import math
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SQL_FOLDER = Path(__file__).parent.parent / "sql" / "tpch"
SCHEMA = "tpch"

# The rows of each table at scale factor 1; tables with the same number at every scale are in FIXED.
ROWS_AT_SCALE_1 = {
    "region": 5,
    "nation": 25,
    "supplier": 10_000,
    "customer": 150_000,
    "part": 200_000,
    "partsupp": 800_000,
    "orders": 1_500_000,
    "lineitem": 6_001_215,
}
FIXED = frozenset({"region", "nation"})
TABLES = tuple(ROWS_AT_SCALE_1)

# One Parquet part becomes one Delta file. The generator's order is by key, so the files' key ranges do not overlap
# and a batch with few keys reads few files; below 50 files Delta keeps the whole list in one checksum file.
ROWS_PER_FILE = 400_000
FEWEST_FILES = 4  # of a scattered table


def expected_rows(table: str, scale: float) -> int:
    """How many rows the table has at a scale factor; within 0.2 % for lineitem, exact for the others."""
    return ROWS_AT_SCALE_1[table] if table in FIXED else round(ROWS_AT_SCALE_1[table] * scale)


def generate(scale: float, folder: Path, on_table: Callable[[str], None] = lambda table: None) -> Path:
    """Generate the eight tables under ``folder/sf<scale>`` unless they are there; return that folder.

    ``on_table`` is called with each table's name when it is there. Two runs at once do no harm: each
    writes apart and the first to finish moves its folder into place.
    """
    target = folder / f"sf{scale:g}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".sf{scale:g}-", dir=folder) as draft:
            content = Path(draft) / "tables"
            for table in TABLES:
                _generate_table(table, scale, content)
                on_table(table)
            with contextlib.suppress(OSError):  # another run was first
                content.replace(target)
    else:
        for table in TABLES:
            on_table(table)
    return target


def _generate_table(table: str, scale: float, folder: Path) -> None:
    parts = math.ceil(expected_rows(table, scale) / ROWS_PER_FILE)
    program = shutil.which("tpchgen-cli", path=sysconfig.get_path("scripts")) or shutil.which("tpchgen-cli")
    if program is None:
        raise FileNotFoundError("tpchgen-cli is not installed; run `make setup`")
    command = [program, "parquet", "--quiet", "--scale-factor", f"{scale:g}", "--tables", table]
    command += ["--parts", str(parts), "--output-dir", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"tpchgen-cli could not make the table {table}: {done.stderr.strip() or done.stdout.strip()}"
        )


def create_tables(spark: SparkSession, sql_folder: Path = SQL_FOLDER) -> None:
    """Create the schema ``tpch`` and its eight empty Delta tables from ``sql/tpch/tables``."""
    spark.sql("CREATE SCHEMA IF NOT EXISTS tpch")
    for table in TABLES:
        spark.sql((sql_folder / "tables" / f"{table}.sql").read_text("utf-8"))


def load(
    spark: SparkSession, data: Path, on_table: Callable[[str], None] = lambda table: None, *, scattered: bool = False
) -> None:
    """Fill the empty tables with the generated data; ``on_table`` is called after each.

    ``scattered``: each row in any of a table's files, of which there are four at least, as where rows come in no order.
    """
    # A file is one partition, so that a task never packs two key ranges into one file.
    spark.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(1 << 30))
    try:
        for table in TABLES:
            rows = spark.read.parquet(str(data / table))
            if scattered:
                from pyspark.sql.functions import rand

                files = len(list((data / table).glob("**/*.parquet")))
                rows = rows.repartition(max(FEWEST_FILES, files), rand(seed=1))
            rows.writeTo(f"{SCHEMA}.{table}").append()
            on_table(table)
    finally:
        spark.conf.unset("spark.sql.files.openCostInBytes")
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
