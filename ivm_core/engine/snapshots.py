"""Base tables at exact versions, each opened once per group run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ivm_core.engine.bindings import Bindings
from ivm_core.engine.model import STATE_TABLE, Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Snapshots:
    """DataFrames of relations at versions.

    Opening an old version replays the table's log, so what was opened is kept behind a temporary view until ``close``.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.bindings = Bindings(spark)

    def stored(self, location: str, version: int) -> DataFrame:
        """The rows of the Delta table at the location, hidden columns included."""
        return self.bindings.frame(self._open(location, version))

    def read(self, relation: Relation, version: int) -> DataFrame:
        """The rows that a reader of the relation sees at the version."""
        return shown(self.bindings, relation, self._open(relation.location, version))

    def close(self) -> None:
        """Forget all snapshots."""
        self.bindings.close()

    def _open(self, location: str, version: int) -> str:
        key = f"{location}@{version}"
        if key not in self.bindings:
            self.bindings.bind(key, self.spark.read.format("delta").option("versionAsOf", version).load(location))
        return key


def shown(bindings: Bindings, relation: Relation, stored: str) -> DataFrame:
    """Stored rows through the relation's visible SELECT, or as they are where it has none.

    ``stored`` is their name in ``bindings``, which must outlive the result: a Connect session resolves names late.
    """
    if relation.visible_sql is None:
        return bindings.frame(stored)
    return bindings.run(relation.visible_sql, {STATE_TABLE: bindings.view(stored)})
