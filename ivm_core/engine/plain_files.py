"""Tables whose rows are exactly those of their Parquet files, read as such.

Delta's own planning of one scan takes two Spark jobs, more where a version is opened first: for a small batch that is
most of its time. What a table's features allow to misread (deletion vectors, column mapping and the like) is left to Delta.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ivm_core.engine.file_bounds import may_hold
from ivm_core.engine.literals import family
from ivm_core.engine.location import local_path
from ivm_core.engine.log_files import ODD, open_as_stored
from ivm_core.engine.small import ColumnValues

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MOST_FILES = 256  # past it, planning is the smaller part
# Features that change nothing about which rows a file holds, or how they are read.
PLAIN_FEATURES = frozenset(
    {
        "appendOnly", "changeDataFeed", "checkConstraints", "clustering", "domainMetadata", "generatedColumns",
        "identityColumns", "inCommitTimestamp", "invariants", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck",
    }
)  # fmt: skip

Bounds = Sequence[tuple[str, ColumnValues, bool]]  # column, values, whether NULL counts too


@dataclass(frozen=True, slots=True)
class PlainTable:
    """One version of a table: its files with what the log knows of their columns, and its schema as Spark's JSON."""

    folder: str
    files: pa.Table
    schema: str

    @classmethod
    def open(cls, location: str, version: int) -> PlainTable | None:
        """The table at a version; None where only Delta can read it, or does it as fast."""
        table = open_as_stored(location, version, PLAIN_FEATURES)
        if table is None:
            return None
        files = pa.table(table.get_add_actions(flatten=True))
        if files.num_rows > MOST_FILES or any(ODD.search(name) for name in files.column("path").to_pylist()):
            return None
        return cls(str(local_path(location)), files, table.schema().to_json())

    def read(self, spark: SparkSession, alternatives: Iterable[Bounds] = ((),)) -> DataFrame:
        """The rows of the files that may hold values within all the bounds of any alternative."""
        schema, files = columns_alone(self.schema), self.files_with(alternatives)
        if not files.num_rows:
            return spark.createDataFrame([], schema)
        return spark.read.schema(schema).parquet(*self.paths(files))

    def files_with(self, alternatives: Iterable[Bounds]) -> pa.Table:
        """The files that may hold values within all the bounds of any alternative."""
        keep = np.zeros(self.files.num_rows, dtype=bool)
        for bounds in alternatives:
            held = np.ones(self.files.num_rows, dtype=bool)
            for column, values, nulls in bounds:
                held &= self._may_hold(column, values, nulls)
            keep |= held
        return self.files.filter(pa.array(keep))

    def paths(self, files: pa.Table) -> list[str]:
        """Where the files are."""
        return [f"{self.folder}/{name}" for name in files.column("path").to_pylist()]

    def _may_hold(self, column: str, values: ColumnValues, nulls: bool) -> Any:
        wanted = _wanted(values)
        if wanted is None:
            return np.ones(self.files.num_rows, dtype=bool)
        return may_hold(self.files, column, wanted, nulls=nulls, between=values.listed is None)


def columns_alone(schema: str) -> StructType:
    """The columns of a table's schema, given as Spark's JSON, without what Delta notes of them.

    A state that is made of them would take it over: their generation from others, their being identities, their invariants.
    """
    from pyspark.sql.types import StructType

    return StructType.fromJson(_without_notes(json.loads(schema)))


def _without_notes(value: Any) -> Any:
    match value:
        case dict():
            return {key: {} if key == "metadata" else _without_notes(item) for key, item in value.items()}
        case list():
            return [_without_notes(item) for item in value]
        case _:
            return value


def _wanted(values: ColumnValues) -> pa.Array | None:
    """The bound's values; None of types that are not pruned by."""
    kind = family(values.type)
    given = values.listed if values.listed is not None else [values.low, values.high]
    present = [value for value in given if value is not None]
    if values.listed is None and not present:
        return None
    try:
        if kind == "integer":
            return pa.array(present, pa.int64())
        if kind == "date":
            return pa.array([date.fromisoformat(value) for value in present], pa.date32())
    except (ValueError, OverflowError):  # a year before 1 or after 9999, a number of more than 64 bits
        return None
    return None
