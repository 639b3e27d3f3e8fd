"""Rows of this process handed to Spark in a file: it reads 120,000 of them in a fifth of the time that it takes Arrow's rows.

Only where Spark's tasks run on this machine, and only within a scope, at whose end the files are removed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ivm_core.engine.log_files import ODD

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class HandedOver:
    """The files of one process. A file is there until all scopes have ended that were open when it was made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._tidy: Callable[[], object] | None = None  # removes the folder
        self._process = 0
        self._count = 0
        self._scopes: dict[int, list[Path]] = {}
        self._needed: Counter[Path] = Counter()

    def begin(self) -> int:
        """Open a scope; returns its number."""
        with self._lock:
            self._count += 1
            self._scopes[self._count] = []
            return self._count

    def end(self, scope: int) -> None:
        """Remove the files that no other scope needs. To end a scope again changes nothing."""
        with self._lock:
            files = self._scopes.pop(scope, [])
            self._needed.subtract(files)
            gone = [file for file in files if not self._needed[file]]
            for file in gone:
                del self._needed[file]
            if not self._scopes and self._tidy is not None:
                # Not only as the process ends: one that is killed, or forked, does not tidy up.
                self._tidy()
                self._folder = self._tidy = None
        for file in gone:
            file.unlink(missing_ok=True)

    def frame(self, spark: SparkSession, rows: pa.Table, types: StructType) -> DataFrame | None:
        """The rows as a DataFrame of these types; None outside of scopes, and where Spark could not read such a file.

        ``spark``: a session whose tasks run on this machine.
        """
        if not all(_is_plain(type_) for type_ in rows.schema.types):
            return None
        file = self._next()
        if file is None:
            return None
        # By number: names may be equal but for their case, or hold what Parquet's may not.
        numbered = rows.rename_columns([f"c{place}" for place in range(rows.num_columns)])
        try:
            pq.write_table(
                numbered,
                file,
                compression="none",
                use_dictionary=False,
                write_statistics=False,
                store_schema=False,
                store_decimal_as_integer=True,
            )
        except OSError:  # the disk is full
            file.unlink(missing_ok=True)
            return None
        # The file does not say that its days are of the new calendar: Arrow keeps what is said beside its own schema only.
        reader = spark.read.schema(_numbered(types)).option("datetimeRebaseMode", "CORRECTED")
        # Not quoted as in a URI: Hadoop takes what stands there for the name.
        return reader.parquet(f"file://{file}").toDF(*rows.column_names)

    def _next(self) -> Path | None:
        """The name of a new file, which all open scopes may need."""
        with self._lock:
            if not self._scopes:
                return None
            if self._folder is None or self._process != os.getpid():
                try:
                    self._folder, self._process = Path(tempfile.mkdtemp(prefix="ivm-rows-")), os.getpid()
                except OSError:  # the disk is full
                    return None
                self._tidy = weakref.finalize(self, _remove, self._folder, self._process)
            if ODD.search(str(self._folder)):
                return None
            self._count += 1
            file = self._folder / f"{self._count}.parquet"
            for files in self._scopes.values():
                files.append(file)
            self._needed[file] = len(self._scopes)
            return file


HANDED_OVER = HandedOver()  # of this process


def _remove(folder: Path, process: int) -> None:
    if process == os.getpid():  # and not one that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


def _is_plain(type_: pa.DataType) -> bool:
    """Whether Spark reads from a file what Arrow writes."""
    known = (
        pa.types.is_signed_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_binary, pa.types.is_date32,
        pa.types.is_decimal128, pa.types.is_float32, pa.types.is_float64,
    )  # fmt: skip
    return any(is_known(type_) for is_known in known) or (pa.types.is_timestamp(type_) and type_.unit == "us")


def _numbered(types: StructType) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f"c{place}", field.dataType) for place, field in enumerate(types.fields)])
