"""The hand-written models of the warehouse as tables of their own, and their runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.by_hand_sql import HandWritten, changes_name, hand_name, read_models, statements
from bench.deployment import Deployment, log_of
from bench.plain_spark import full_name, same_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ivm_core.plan.definition import ViewDefinition

_FEED = "delta.enableChangeDataFeed"


@dataclass(slots=True)
class HandWrittenModels:
    """The models with their tables, and up to which version of what they read they are."""

    place: Deployment
    models: tuple[HandWritten, ...]
    versions: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def build(cls, place: Deployment, views: Iterable[ViewDefinition]) -> HandWrittenModels:
        """Tables with the rows of the models' last full refreshes, which are of the base tables as they are."""
        made = cls(place, read_models(views))
        for model in made.models:
            rows = place.spark.table(full_name(model.view)).write.format("delta").option(_FEED, "true")
            rows.saveAsTable(hand_name(model.view))
        for model in made.models:
            made.versions[model.view] = made._newest(model)
        return made

    def run(self) -> dict[str, float]:
        """Bring the models up to date, upstream first; seconds of each."""
        return {model.view: self._run(model) for model in self.models}

    def is_right(self, view: str) -> bool:
        """Whether a model has the rows of its last full refresh."""
        spark = self.place.spark
        return bool(same_rows(spark, spark.table(full_name(view)), spark.table(hand_name(view))))

    def _run(self, model: HandWritten) -> float:
        spark, done = self.place.spark, self.versions[model.view]
        started = time.monotonic()
        newest = self._newest(model)
        for table in model.reads:
            rows = _changes(spark, self._name(table), done[table] + 1, newest[table])
            rows.createOrReplaceTempView(changes_name(table))
        for statement in statements(model, [one.view for one in self.models]):
            spark.sql(statement.sql("spark")).collect()
        self.versions[model.view] = newest
        return time.monotonic() - started

    def _newest(self, model: HandWritten) -> dict[str, int]:
        return {table: log_of(self.place.spark, self._name(table)).version() for table in model.reads}

    def _name(self, table: str) -> str:
        return hand_name(table) if any(model.view == table for model in self.models) else table


def _changes(spark: SparkSession, table: str, first: int, last: int) -> DataFrame:
    # Not by the function table_changes: beside its table in one statement, Spark 4.2 takes it for the table itself.
    if first > last:  # a range that Delta refuses
        return spark.table(table).where("FALSE")
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", first).option("endingVersion", last)
    return feed.table(table)
