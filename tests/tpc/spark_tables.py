"""The tables of several queries together, as Delta tables with a Change Data Feed, and the changes they go through."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING

import duckdb

from tests.maintain.database import FEED
from tests.tpc.asked_values import asked_values
from tests.tpc.benchmark import Benchmark, Row
from tests.tpc.hints import hint_of
from tests.tpc.random_rows import CALENDAR, RandomRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEYS_OF_A_QUERY = 100_000


class SparkTables:
    """Each query has rows of its own, with keys of their own, so that one query's rows meet no other's; days are shared."""

    def __init__(
        self, spark: SparkSession, benchmark: Benchmark, schema: str, names: list[str], queries: Iterable[int]
    ) -> None:
        self.spark, self.benchmark, self.schema, self.names = spark, benchmark, schema, names
        types = {name: type_ for columns in benchmark.types.values() for name, type_ in columns.items()}
        self._days: set[Row] = set()
        with duckdb.connect() as connection:
            self._rows = [
                RandomRows(
                    benchmark,
                    Random(number),
                    asked_values(connection, benchmark.queries[number], types),
                    hint_of(benchmark.kind, number),
                    place * _KEYS_OF_A_QUERY,
                )
                for place, number in enumerate(queries)
            ]
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        first = [rows.first(names) for rows in self._rows]
        for name in names:
            spark.sql(f"CREATE TABLE {schema}.{name} ({self._columns(name)}) USING DELTA {FEED}")
            self._append(name, [row for tables in first for row in tables[name]])

    def insert(self) -> None:
        """New rows in every table."""
        for name in self.names:
            self._append(name, [row for rows in self._rows for row in rows.inserted(name, [])])

    def delete(self) -> None:
        """A seventh of every table's rows."""
        for name in self.names:
            self._run(f"DELETE FROM {self.schema}.{name} WHERE {self._chance(name, 7)}")

    def mix(self) -> None:
        """Rows deleted, inserted, and changed in all their numbers but keys."""
        for name in self.names:
            changed = ", ".join(
                f"{column} = {column} + 1"
                for column, type_ in self.benchmark.types[name].items()
                if type_.startswith(("INTEGER", "DECIMAL")) and not column.endswith(("_sk", "key", "number"))
            )
            if changed:
                self._run(f"UPDATE {self.schema}.{name} SET {changed} WHERE {self._chance(name, 5)}")
        self.delete()
        self.insert()

    def _run(self, statement: str) -> None:
        self.spark.sql(statement).collect()

    def _columns(self, name: str) -> str:
        schema = self.benchmark.schemas[f"default.{name}"]
        return ", ".join(f"{column} {type_}" for column, type_ in schema.columns)

    def _append(self, name: str, rows: list[Row]) -> None:
        if name == CALENDAR:
            rows = [row for row in dict.fromkeys(rows) if row not in self._days]
            self._days.update(rows)
        frame = self.spark.createDataFrame(rows, self._columns(name)).coalesce(1)
        frame.write.format("delta").mode("append").saveAsTable(f"{self.schema}.{name}")

    def _chance(self, name: str, of: int) -> str:
        return f"pmod(hash({', '.join(self.benchmark.types[name])}), {of}) = 1"
