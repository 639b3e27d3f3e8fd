"""The same log facts through Spark SQL, for tables that only the cluster can reach."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import deltalake
from pyspark.errors import AnalysisException
from sqlglot import exp

from ivm_core.engine.location import local_path
from ivm_core.errors import BaseTableError


class TableMissing(BaseTableError):
    """There is no Delta table, as opposed to one that cannot be read at the moment."""


@lru_cache(maxsize=1024)
def only_spark_reaches(location: str) -> bool:
    """Whether this process cannot ask the store itself: the keys, or the addresses, are the Spark session's alone."""
    if local_path(location) is not None:
        return False
    try:
        deltalake.DeltaTable(location)
    except OSError:
        return True
    except deltalake.exceptions.DeltaError:
        pass  # of what the store answered
    return False


@dataclass(frozen=True, slots=True)
class LogMetadata:
    """The parts of a table's metadata that are asked for."""

    id: str
    configuration: dict[str, str]


class SparkLog:
    """Answers like ``deltalake.DeltaTable``, from DESCRIBE DETAIL, DESCRIBE HISTORY and the log's own files."""

    def __init__(self, spark: Any, location: str) -> None:
        self._spark = spark
        self._location = location
        try:
            self._detail = self._describe("detail").collect()[0]
        except AnalysisException as error:
            raise TableMissing(f"there is no Delta table at {location}: {_first_line(error)}") from error
        except Exception as error:  # the store, or the cluster, does not answer
            raise BaseTableError(f"the Delta log at {location} cannot be read: {_first_line(error)}") from error
        self._version = int(self._history(1)[0]["version"])

    def version(self) -> int:
        return self._version

    def metadata(self) -> LogMetadata:
        return LogMetadata(self._detail["id"], dict(self._detail["properties"] or {}))

    def schema(self) -> Any:
        """The newest version's columns, as Spark's StructType."""
        return self._spark.read.format("delta").load(self._location).schema

    def schema_at(self, version: int) -> Any:
        """The same of another version, None where it cannot be read."""
        try:
            return self._spark.read.format("delta").option("versionAsOf", version).load(self._location).schema
        except Exception:  # past its retention, or its log is gone
            return None

    def size(self) -> tuple[int, int]:
        """Bytes and number of files."""
        return int(self._detail["sizeInBytes"] or 0), int(self._detail["numFiles"] or 0)

    def history(self, limit: int) -> list[dict[str, Any]]:
        # Others may have committed since: their commits would be the first of so many.
        return self._history(limit, f"version <= {self._version}")

    def transaction_version(self, app_id: str) -> int | None:
        """Searched in the commits still in the log, then in the checkpoints."""
        for pattern, reader in (("*.json", "json"), ("*.checkpoint*.parquet", "parquet")):
            try:
                files = self._spark.read.format(reader).load(f"{self._location}/_delta_log/{pattern}")
                if "txn" not in files.columns:
                    continue
                row = files.where(files["txn.appId"] == app_id).selectExpr("max(txn.version) AS version").collect()[0]
            except Exception:  # no file of that kind yet
                continue
            if row["version"] is not None:
                return int(row["version"])
        return None

    def _history(self, limit: int, condition: str = "true") -> list[dict[str, Any]]:
        # The timestamp is taken as a number, so that no session time zone comes in between.
        rows = (
            self._describe("history")
            .where(condition)
            .selectExpr(
                "version",
                "unix_millis(timestamp) AS timestamp",
                "operation",
                "operationParameters",
                "operationMetrics",
                "userMetadata",
            )
            .limit(limit)
            .collect()
        )
        return [row.asDict() for row in rows]

    def _describe(self, what: str) -> Any:
        statement = exp.Describe(this=delta_path(self._location), style=what.upper())
        return self._spark.sql(statement.sql("spark"))


def delta_path(location: str) -> exp.Table:
    """The table at a path, as ``delta.`path```."""
    return exp.Table(this=exp.to_identifier(location, quoted=True), db=exp.to_identifier("delta"))


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
