"""Constants that a query names before it computes with them: beside a DECIMAL they count by their type, not by their digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ivm_core import Engine
from tests.maintain.database import FEED, check_views, create_views, run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

VIEWS = {
    "joined": "SELECT t.a, t.c / p.three AS x FROM {s}.t JOIN (SELECT w.k, 3 AS three FROM {s}.w JOIN {s}.u ON u.k = w.k) p "
    "ON p.k = t.a",
    "below": "SELECT a, c / parts AS share, cast(c / parts AS decimal(18,8)) AS shorter, cast(c / -less AS double) AS other, "
    "cast(c / long AS string) AS seventh, cast(c % long AS string) AS rest, cast(w * parts AS string) AS product, c / 3 AS literal, "
    "c / 3L AS longer FROM (SELECT a, c, cast(c AS decimal(38,10)) AS w, 3 AS parts, -3 AS less, 7L AS long FROM {s}.t) q",
    "beside": "SELECT a, 3 AS parts, cast(c / parts AS double) AS share FROM {s}.t",
    "kept": "SELECT a FROM (SELECT a, c, d, 3 AS parts FROM {s}.t) q WHERE c / parts > 3.3333333 AND d <= current_date()",
    "sums": "SELECT a, cast(sum(c / parts) AS string) AS share, 4 AS four FROM (SELECT a, c, 3 AS parts FROM {s}.t) q GROUP BY a "
    "HAVING cast(max(c) / four AS double) > 0.776",
}


def test_views_follow_their_tables(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.t (a INT, c DECIMAL(15,2), d DATE) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.w (k INT) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.u (k INT) USING DELTA {FEED}",
        f"INSERT INTO {schema}.t VALUES (1, 10, DATE'2024-01-01'), (2, 20, DATE'2024-01-01'), (3, 3.1, DATE'9024-01-01')",
        f"INSERT INTO {schema}.w VALUES (1), (2), (4)",
        f"INSERT INTO {schema}.u VALUES (1), (2)",
    )
    changes = (
        (f"DELETE FROM {schema}.t WHERE a = 2", f"INSERT INTO {schema}.u VALUES (4)"),
        (
            f"INSERT INTO {schema}.t VALUES (4, 11.11, DATE'2024-01-01'), (1, 10, NULL)",
            f"DELETE FROM {schema}.w WHERE k = 1",
        ),
    )
    queries = {name: query.format(s=schema) for name, query in VIEWS.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        create_views(engine, schema, queries)
        check_views(engine, schema, queries, "built")
        for statements in changes:
            run(spark, *statements)
            reports = engine.maintain(raise_errors=False)
            assert not [(report.view, report.error) for report in reports if report.error], statements
            check_views(engine, schema, queries, str(statements))
