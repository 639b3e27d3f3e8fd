"""The queries of TPC-H and TPC-DS as views on Spark and Delta: created, maintained through three batches, compared.

All queries of a portion share tables and batches. ``pytest -m slow tests/tpc/test_spark.py -k tpcds-12]`` runs a portion,
and keeps in results.json the strategies of its batches and how many of them left rows; ``TPC_BATCHES=1`` makes the
first batch alone, in which rows of every table are inserted, updated and deleted. ``TPC_SIZE=4`` makes smaller portions.
"""

from __future__ import annotations

import os

import pytest
from sqlglot import exp, parse_one

from ivm_core import Engine
from tests.bags import difference
from tests.tpc.benchmark import KINDS, Benchmark, is_installed, load, numbers, spark_text
from tests.tpc.record import record
from tests.tpc.spark_tables import SparkTables
from tests.tpc.test_jobs import REFRESHED

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SIZE = int(os.environ.get("TPC_SIZE", "11"))  # queries of a portion
BATCHES = int(os.environ.get("TPC_BATCHES", "3"))
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
        if first <= number < first + SIZE and (kind, number) != REFRESHED
    }
    read = {table.name for query in queries.values() for table in parse_one(query, read="spark").find_all(exp.Table)}
    tables = SparkTables(spark, benchmark, schema, sorted(read & set(benchmark.types)), queries)
    strategies: dict[int, list[str]] = {number: [] for number in queries}
    with_rows = dict.fromkeys(queries, 0)
    failures: list[str] = []
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as engine:
        for number, query in queries.items():
            policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
            engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.v{number} {policy} AS {query}")
        for change in (tables.mix, tables.insert, tables.delete)[:BATCHES]:
            change()
            reports = {report.view: report for report in engine.maintain(raise_errors=False)}
            for number, query in queries.items():
                report, view = reports[f"{schema}.v{number}"], engine.read(f"{schema}.v{number}")
                found = report.error or difference(view, spark.sql(query), rounded=True)
                print(number, change.__name__, report.strategy, "differs" if found else "equal", flush=True)
                if found:
                    failures.append(f"{number} after {change.__name__}: {str(found)[:2000]}")
                strategies[number].append(f"{report.strategy}")
                with_rows[number] += not view.isEmpty()
        failures += [f"{number}: {seen}" for number, seen in strategies.items() if "full" in seen]
    for number, seen in strategies.items():
        if not any(failure.startswith((f"{number} ", f"{number}:")) for failure in failures):
            record(f"{kind} {number}", spark=", ".join(seen), spark_with_rows=with_rows[number])
    assert not failures, "\n".join(failures)


def _qualified(query: str, benchmark: Benchmark, schema: str) -> str:
    tree = parse_one(query, read="spark")
    for table in tree.find_all(exp.Table):
        if table.name in benchmark.types:
            table.set("db", exp.to_identifier(schema))
    return tree.sql("spark")
