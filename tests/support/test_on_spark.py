"""What DuckDB cannot run, and views over views: all as views of one schema, maintained through batches on Spark and Delta."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.sql.functions import pandas_udf
from sqlglot import exp, parse_one

from ivm_core import Engine
from ivm_core.maintain.group import make_cut, select_views
from ivm_core.plan.dialect import SparkAsWritten
from tests.bags import difference
from tests.job.test_meaning_duckdb import edited
from tests.maintain.database import FEED, run
from tests.plan.test_meaning import Row, random_rows
from tests.support.constructs import CONSTRUCTS, REFUSED, TABLES, TOPICS, UPSTREAM

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "shop"
MAINTAINED = {
    f"v{place}": construct
    for place, construct in enumerate(CONSTRUCTS)
    if construct.on_spark_only or construct in (*TOPICS["Views over views"], *TOPICS["Functions of your own"])
}
BASE_TABLES = {name: table.columns for name, table in TABLES.items() if name not in UPSTREAM}
POLICY = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental', 'ivm.aggregate_functions' = 'middle')"
DOCUMENTS = (None, '{"p": 1}', '{"p": 2, "r": [1, 2.5, null]}', "[1]", "null")


def _middle(values: pd.Series) -> float:
    return float(values.dropna().median()) if values.notna().any() else -1.0


@pytest.fixture
def engine(spark: SparkSession, tmp_path: Path) -> Iterator[Engine]:
    spark.udf.register("twice", lambda v: None if v is None else 2 * v, "int")
    spark.udf.register("middle", pandas_udf(_middle, "double"))
    run(
        spark,
        "CREATE OR REPLACE TEMPORARY FUNCTION shout(s string) RETURNS string RETURN upper(coalesce(s, '?'))",
        f"CREATE SCHEMA {SCHEMA}",
    )
    for name, columns in BASE_TABLES.items():
        run(spark, f"CREATE TABLE {name} ({', '.join(' '.join(column) for column in columns)}) USING DELTA {FEED}")
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        yield opened
    run(spark, f"DROP SCHEMA {SCHEMA} CASCADE", "DROP TEMPORARY FUNCTION shout")


class Tables:
    """The rows of the base tables; a batch deletes those that go and appends those that come, so that equal rows stay."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark, self.random = spark, Random(5)
        self.types = {name: tuple(type_ for _, type_ in columns) for name, columns in BASE_TABLES.items()}
        self.rows = {name: self._more(name) for name in BASE_TABLES}
        for name, rows in self.rows.items():
            self._append(name, rows)

    def change(self) -> None:
        """Rows go, come, and change in most tables."""
        for name, rows in self.rows.items():
            if self.random.random() < 0.8:
                new = self._more(name)[:3] if name == "shop.doc" else self._edited(name, rows)
                run(self.spark, f"DELETE FROM {name}" + (" WHERE k > 1" if name == "shop.doc" else ""))
                self._append(name, new)
                self.rows[name] = new

    def _edited(self, name: str, rows: list[Row]) -> list[Row]:
        return [
            tuple(self._recent(cell) if isinstance(cell, date) and cell.year < 2026 else cell for cell in row)
            for row in edited(self.random, self.types[name], rows)
        ]

    def _more(self, name: str) -> list[Row]:
        if name != "shop.doc":
            return [tuple(map(self._recent, row)) for row in random_rows(self.random, self.types[name], 6)]
        maps = (None, {}, {"x": 1}, {"x": 1, "y": 2}, {"y": 2, "x": 1})
        return [
            (self.random.choice((None, 1, 2, 3)), self.random.choice(maps), self.random.choice(DOCUMENTS))
            for _ in range(9)
        ]

    def _recent(self, cell: object) -> object:
        """For views that tell the time: dates of the days before the first batch."""
        return date.today() - timedelta(days=self.random.randrange(25)) if isinstance(cell, date) else cell

    def _append(self, name: str, rows: Sequence[Row]) -> None:
        declared = ", ".join(f"{n} {'string' if type_ == 'variant' else type_}" for n, type_ in BASE_TABLES[name])
        frame: Any = self.spark.createDataFrame(list(rows), declared)
        if name == "shop.doc":
            frame = frame.selectExpr("k", "m", "parse_json(v) AS v")
        frame.coalesce(1).write.format("delta").mode("append").saveAsTable(name)


# A batch of 36 views takes a minute: the ordinary run takes every second one through one batch, the slow one all through two.
@pytest.mark.parametrize(("every", "batches"), [(2, 1), pytest.param(1, 2, marks=pytest.mark.slow)])
def test_views_follow_their_tables(spark: SparkSession, engine: Engine, every: int, batches: int) -> None:
    tables, now = Tables(spark), datetime.now(UTC)
    maintained = dict(list(MAINTAINED.items())[::every])
    views = {name.rpartition(".")[2]: _qualified(sql) for name, sql in UPSTREAM.items()}
    views |= {name: _qualified(construct.sql) for name, construct in maintained.items()}
    for name, sql in views.items():
        engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {SCHEMA}.{name} {POLICY} AS {sql}")
    strategies: dict[str, set[str]] = {name: set() for name in views}
    for _ in range(batches):
        tables.change()
        now += timedelta(days=9)
        session = engine._session
        for report in engine.maintain(cut=make_cut(session, select_views(session, None, None), now)):
            assert report.error is None, (report.view, report.error)
            strategies[report.view.removeprefix(f"{SCHEMA}.")].add(str(report.strategy))
        wrong = [(views[name], found) for name in views if (found := _difference(engine, spark, name, views, now))]
        assert not wrong
    for name, construct in maintained.items():
        assert strategies[name] <= {str(construct.strategy), "noop", "incremental"}, (construct, strategies[name])


def _qualified(sql: str) -> str:
    """The query with the schema before the names of tables: in a view these would be in ``default``."""
    tree = parse_one(sql, read=SparkAsWritten)
    for table in tree.find_all(exp.Table):
        if f"{SCHEMA}.{table.name}" in TABLES:
            table.set("db", exp.to_identifier(SCHEMA))
    return tree.sql("spark")


def _difference(engine: Engine, spark: SparkSession, name: str, views: dict[str, str], now: datetime) -> list[Any]:
    """The rows in which a view and its query differ."""
    query = views[name].replace("CURRENT_DATE", f"date'{now:%Y-%m-%d}'")
    for clock in ("CURRENT_TIMESTAMP()", "NOW()"):
        query = query.replace(clock, f"timestamp'{now:%Y-%m-%d %H:%M:%S.%f}'")
    shown, expected = engine.read(f"{SCHEMA}.{name}"), spark.sql(query)
    if any(type_ == "variant" for _, type_ in expected.dtypes):
        shown, expected = (side.selectExpr("k", "to_json(v) AS v") for side in (shown, expected))
    return difference(shown, expected)


def test_spark_has_no_such_syntax(spark: SparkSession) -> None:
    from pyspark.errors import ParseException

    for name in ("> ANY (subquery)", "<> ALL (subquery)", "star REPLACE"):
        with pytest.raises(ParseException):
            spark.sql(REFUSED[name][0])
