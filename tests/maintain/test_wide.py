"""Views of very many columns: neither the plans made here nor Spark's own grow out of bounds with them."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.database import FEED, create_views, run

pytestmark = pytest.mark.spark

NUMBERS = range(1, 37)


def each(text: str) -> str:
    """The text for each column, its number in the place of ``#``."""
    return ", ".join(text.replace("#", str(number)) for number in NUMBERS)


VIEWS = {
    "sums": f"SELECT g, {each('sum(c#) AS s#')} FROM w.facts GROUP BY g",
    "whole": f"SELECT {each('avg(c#) AS s#')} FROM w.facts",
    "shown": f"SELECT g, {each('coalesce(sum(c#), 0) / (count(*) + 1) AS s#')} FROM w.facts GROUP BY g HAVING sum(c1) <> 1",
    "extremes": f"SELECT g, {each('min(c#) AS l#, max(c#) AS m#')} FROM w.facts GROUP BY g",
    "anew": f"SELECT g, {each('median(c#) AS m#')} FROM w.facts GROUP BY g",
    "rows": f"SELECT k, {each('c# + 1 AS d#')} FROM w.facts WHERE {' OR '.join(f'c{n} + 1 > {n}' for n in NUMBERS)}",
    "joined": f"SELECT f.k, {each('f.c# AS a#, d.c# AS b#')} FROM w.facts f LEFT JOIN w.dim d ON f.g = d.g AND f.c1 <> d.c2",
}


def test_views_of_many_columns_follow_their_tables(spark, tmp_path) -> None:
    columns, values = each("c# decimal(10,2)"), each("pmod(hash(id, #), 7) AS c#")
    rows = "INSERT INTO w.{} SELECT id AS k, id % 3 AS g, {} FROM range({}, {})"
    run(
        spark,
        "CREATE SCHEMA w",
        f"CREATE TABLE w.facts (k bigint, g bigint, {columns}) USING DELTA {FEED}",
        f"CREATE TABLE w.dim (k bigint, g bigint, {columns}) USING DELTA {FEED}",
        rows.format("facts", values, 0, 8),
        rows.format("dim", values, 20, 22),
    )
    try:
        with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
            create_views(engine, "w", VIEWS)
            run(
                spark,
                "DELETE FROM w.facts WHERE k = 2",
                "UPDATE w.facts SET c1 = NULL, c2 = 9, g = 1 WHERE k = 3",
                rows.format("facts", values, 30, 33),
                rows.format("dim", values, 40, 41),
            )
            for report in engine.maintain():
                assert report.strategy in ("incremental", "affected"), report.detail
                assert not difference(engine.read(report.view), spark.sql(VIEWS[report.view[2:]])), report.view
    finally:
        run(spark, "DROP SCHEMA w CASCADE")
