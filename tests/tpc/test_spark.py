"""The queries of TPC-H and TPC-DS as views on Spark and Delta: created, maintained through three batches, compared.

All queries of a portion share tables and batches. ``pytest -m slow tests/tpc/test_spark.py -k 'tpcds and 11'`` runs a
portion, and keeps the strategies of its batches in results.json.
"""

from __future__ import annotations

from random import Random

import duckdb
import pytest
from sqlglot import exp, parse_one

from ivm_core import Engine
from tests.maintain.database import FEED, difference
from tests.tpc.asked_values import asked_values
from tests.tpc.benchmark import KINDS, Benchmark, is_installed, load, numbers, spark_text
from tests.tpc.random_rows import RandomRows
from tests.tpc.record import record

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SIZE = 11
PORTIONS = [(kind, first) for kind in KINDS for first in numbers(kind)[::SIZE]]


@pytest.mark.parametrize(("kind", "first"), PORTIONS)
def test_views_follow_their_tables(spark, tmp_path, kind: str, first: int) -> None:
    if not is_installed(kind):
        pytest.skip(f"no package duckdb-extension-{kind}")
    benchmark = load(kind)
    schema = f"{kind}_{first}"
    queries = {
        number: _qualified(spark_text(benchmark.queries[number]), benchmark, schema)
        for number in numbers(kind)
        if first <= number < first + SIZE
    }
    read = {table.name for query in queries.values() for table in parse_one(query, read="spark").find_all(exp.Table)}
    tables = _Tables(spark, benchmark, schema, sorted(read & set(benchmark.types)), first)
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        for number, query in queries.items():
            policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
            engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.v{number} {policy} AS {query}")
        seen: dict[int, list[str]] = {number: [] for number in queries}
        for change in (tables.insert, tables.delete, tables.mix):
            change()
            reports = {report.view: report for report in engine.maintain(raise_errors=False)}
            for number, query in queries.items():
                report = reports[f"{schema}.v{number}"]
                assert not report.error, f"{number} after {change.__name__}: {report.error}"
                found = difference(engine.read(f"{schema}.v{number}"), spark.sql(query), rounded=True)
                assert not found, f"{number} after {change.__name__}: {found[:6]}"
                seen[number].append(f"{report.strategy}")
        for number, strategies in seen.items():
            assert engine.validate(f"{schema}.v{number}").ok
            assert "full" not in strategies, number
            record(f"{kind} {number}", spark=", ".join(strategies))


class _Tables:
    """The tables as Delta tables with a Change Data Feed, and the changes they go through."""

    def __init__(self, spark, benchmark: Benchmark, schema: str, names: list[str], seed: int) -> None:
        self.spark, self.benchmark, self.schema, self.names = spark, benchmark, schema, names
        types = {name: type_ for columns in benchmark.types.values() for name, type_ in columns.items()}
        asked: dict[str, tuple[object, ...]] = {}
        with duckdb.connect() as connection:
            for query in benchmark.queries.values():
                for column, values in asked_values(connection, query, types).items():
                    asked[column] = tuple(dict.fromkeys((*asked.get(column, ()), *values)))
        self.rows = RandomRows(benchmark, Random(seed), asked)
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for name, rows in self.rows.first(names).items():
            spark.sql(f"CREATE TABLE {schema}.{name} ({self._columns(name)}) USING DELTA {FEED}")
            self._append(name, rows)

    def insert(self) -> None:
        """New rows in every table."""
        for name in self.names:
            self._append(name, self.rows.inserted(name, []))

    def delete(self) -> None:
        """A seventh of every table's rows."""
        for name in self.names:
            self.spark.sql(f"DELETE FROM {self.schema}.{name} WHERE {self._chance(name, 7)}").collect()

    def mix(self) -> None:
        """Rows deleted, inserted, and changed in all their numbers but keys."""
        for name in self.names:
            changed = ", ".join(
                f"{column} = {column} + 1"
                for column, type_ in self.benchmark.types[name].items()
                if type_.startswith(("INTEGER", "DECIMAL")) and not column.endswith(("_sk", "key", "number"))
            )
            if changed:
                self.spark.sql(f"UPDATE {self.schema}.{name} SET {changed} WHERE {self._chance(name, 5)}").collect()
        self.delete()
        self.insert()

    def _columns(self, name: str) -> str:
        schema = self.benchmark.schemas[f"default.{name}"]
        return ", ".join(f"{column} {type_}" for column, type_ in schema.columns)

    def _append(self, name: str, rows) -> None:
        frame = self.spark.createDataFrame(rows, self._columns(name)).coalesce(1)
        frame.write.format("delta").mode("append").saveAsTable(f"{self.schema}.{name}")

    def _chance(self, name: str, of: int) -> str:
        return f"pmod(hash({', '.join(self.benchmark.types[name])}), {of}) = 1"


def _qualified(query: str, benchmark: Benchmark, schema: str) -> str:
    tree = parse_one(query, read="spark")
    for table in tree.find_all(exp.Table):
        if table.name in benchmark.types:
            table.set("db", exp.to_identifier(schema))
    return tree.sql("spark")
