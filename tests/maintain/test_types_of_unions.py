"""Branches of unions and set operations of different types, of which some are not known before Spark is asked: one changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core import Engine
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.schema import TableSchema, types_of
from tests.maintain.database import FEED, check_views, create_views, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Of these the package has no types (date_part, array_append), or has had none for long.
VIEWS = {
    "unknown": "SELECT cast(v AS string) AS t FROM (SELECT date_part('YEAR', d) AS v FROM {s}.a UNION ALL SELECT x FROM {s}.b)",
    "grouped": "SELECT concat('#', v) AS t, count(*) AS n FROM "
    "(SELECT date_part('YEAR', d) AS v FROM {s}.a UNION ALL SELECT x FROM {s}.b) GROUP BY 1",
    "without": "SELECT s AS v FROM {s}.a EXCEPT SELECT date_part('MONTH', d) FROM {s}.c",
    "both": "SELECT s AS v FROM {s}.a INTERSECT SELECT date_part('MONTH', d) FROM {s}.c",
    "joined": "SELECT cast(q.v AS string) AS t, b.k FROM (SELECT date_part('DAY', d) AS v, k FROM {s}.a UNION ALL SELECT x, k "
    "FROM {s}.b UNION ALL SELECT 1.5D, k FROM {s}.c) q LEFT JOIN {s}.b b ON b.k = q.k",
    "arrays": "SELECT cast(v AS string) AS t FROM (SELECT array_append(array(k), 1) AS v FROM {s}.a UNION ALL SELECT array(x) FROM {s}.b)",
    "sizes": "SELECT cast(v AS string) AS t FROM (SELECT size(l) AS v FROM {s}.a UNION ALL SELECT x FROM {s}.b)",
    "days": "SELECT cast(v AS string) AS t FROM (SELECT next_day(d, 'MO') AS v FROM {s}.a UNION ALL SELECT at FROM {s}.b)",
    "names": "SELECT q.k, q.o, b.x FROM (SELECT k, named_struct('first-name', s, 'select', k) AS o FROM {s}.a) q FULL JOIN {s}.b b "
    "ON b.k = q.k",
    "bits": "SELECT cast(v AS string) AS t, count(*) AS n FROM (SELECT k & 3 AS v FROM {s}.a UNION ALL SELECT x FROM {s}.b) GROUP BY v",
}


def test_a_type_is_not_known_before_spark_is_asked() -> None:
    schema = TableSchema("s.a", (("d", "date"), ("k", "int")))
    for unknown in ("date_part('YEAR', d)", "array_append(array(k), 1)"):
        assert types_of(from_sql(f"SELECT {unknown} AS v FROM s.a", {"s.a": schema}))["v"] is None


@pytest.mark.spark
def test_values_have_the_type_of_both_branches(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.a (k INT, s STRING, l ARRAY<INT>, d DATE) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.b (k INT, x DECIMAL(6,2), at TIMESTAMP) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.c (k INT, d DATE) USING DELTA {FEED}",
        f"INSERT INTO {schema}.a VALUES (1, '9', array(1), DATE'2024-09-02'), (2, '09', NULL, NULL), (7, '2', array(), DATE'2023-02-03')",
        f"INSERT INTO {schema}.b VALUES (1, 2024, TIMESTAMP'2024-01-01 10:00:00'), (2, 3, NULL), (3, NULL, NULL)",
        f"INSERT INTO {schema}.c VALUES (1, DATE'2024-02-01'), (2, DATE'2024-12-01')",
    )
    statements = (
        f"INSERT INTO {schema}.a VALUES (3, '02', array(1, 2), DATE'2024-10-10')",
        f"DELETE FROM {schema}.a WHERE s = '9'",
        f"UPDATE {schema}.b SET x = x + 1, at = TIMESTAMP'2024-03-04 00:00:00' WHERE k < 3",
        f"INSERT INTO {schema}.c VALUES (3, DATE'2024-09-09')",
        f"DELETE FROM {schema}.a WHERE k < 3",
    )
    queries = {name: query.format(s=schema) for name, query in VIEWS.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        create_views(engine, schema, queries)
        for statement in statements:
            run(spark, statement)
            reports = engine.maintain(raise_errors=False)
            assert not [(report.view, report.error) for report in reports if report.error], statement
            check_views(engine, schema, queries, statement)
