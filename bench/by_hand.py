"""The hand-written models of the warehouse as tables of their own, and their runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from bench.by_hand_sql import HandWritten, changes_name, hand_name, read_models, statements
from bench.deployment import Deployment
from bench.plain_spark import full_name, same_rows
from ivm_core.engine.log import TableLog
from ivm_core.engine.tables import describe_table

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
            source, target = exp.to_table(full_name(model.view)), exp.to_table(hand_name(model.view))
            feed = exp.Property(this=exp.Literal.string(_FEED), value=exp.Literal.string("true"))
            statement = exp.Create(
                this=target,
                kind="TABLE",
                properties=exp.Properties(expressions=[exp.FileFormatProperty(this=exp.Var(this="DELTA")), feed]),
                expression=exp.select("*").from_(source),
            )
            _run(place.spark, statement)
        for model in made.models:
            made.versions[model.view] = {table: _newest(place.spark, made._name(table)) for table in model.reads}
        return made

    def run(self) -> dict[str, float]:
        """Bring the models up to date, upstream first; seconds of each."""
        return {model.view: self._run(model) for model in self.models}

    def is_right(self, view: str) -> bool:
        """Whether a model has the rows of its last full refresh."""
        spark = self.place.spark
        return bool(same_rows(spark, spark.table(full_name(view)), spark.table(hand_name(view))))

    def _run(self, model: HandWritten) -> float:
        def bring_up_to_date() -> None:
            spark, done = self.place.spark, self.versions[model.view]
            newest = {table: _newest(spark, self._name(table)) for table in model.reads}
            for table in model.reads:
                rows = _changes(spark, self._name(table), done[table] + 1, newest[table])
                rows.createOrReplaceTempView(changes_name(table))
            for statement in statements(model, {one.view for one in self.models}):
                _run(spark, statement)
            self.versions[model.view] = newest

        _, cost = self.place.meter.measure(bring_up_to_date)
        return float(cost.seconds)

    def _name(self, table: str) -> str:
        return hand_name(table) if any(model.view == table for model in self.models) else table


def _changes(spark: SparkSession, table: str, first: int, last: int) -> DataFrame:
    # Not by the function table_changes: beside its table in one statement, Spark 4.2 takes it for the table itself.
    if first > last:  # a range that Delta refuses
        return spark.table(table).where("FALSE")
    feed = spark.read.option("readChangeFeed", "true").option("startingVersion", first).option("endingVersion", last)
    return feed.table(table)


def _newest(spark: SparkSession, table: str) -> int:
    return TableLog(describe_table(spark, table).location, spark).version()


def _run(spark: SparkSession, statement: exp.Expr) -> None:
    spark.sql(statement.sql("spark")).collect()
