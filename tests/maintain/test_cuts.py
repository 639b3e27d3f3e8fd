"""The versions that a run fixes are those of the tables that there are when its views are brought to them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ivm_core import Engine
from ivm_core.errors import BaseTableError
from tests.bags import difference
from tests.maintain.database import FEED

pytestmark = pytest.mark.spark

QUERY = "SELECT g, count(*) AS n, sum(id) AS total FROM {s}.t GROUP BY g"


@pytest.fixture
def engine(spark, schema, tmp_path):
    make(spark, schema, 1, 2)
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as opened:
        for name in ("one", "two"):
            opened.create(f"CREATE MATERIALIZED VIEW {schema}.{name} AS {QUERY.format(s=schema)}")
        yield opened


def make(spark, schema: str, *ids: int) -> None:
    spark.sql(f"CREATE TABLE {schema}.t (id INT, g INT) USING DELTA {FEED}").collect()
    for each in ids:
        spark.sql(f"INSERT INTO {schema}.t VALUES ({each}, {each % 3})").collect()


@pytest.mark.parametrize("arrived", [False, True], ids=["before the run", "after another run"])
def test_a_table_that_was_made_anew_since(engine: Engine, spark, schema: str, arrived: bool) -> None:
    spark.sql(f"INSERT INTO {schema}.t VALUES (3, 0)").collect()
    cut = engine.cut()
    spark.sql(f"DROP TABLE {schema}.t").collect()
    make(spark, schema, 100, 200, 300, 400, 500)
    (found,) = engine.status(f"{schema}.one")
    assert (found.lag_versions, found.lag_rows) == ({f"{schema}.t": 6}, 5)
    with pytest.raises(BaseTableError, match="created again"):
        engine.validate(f"{schema}.one")
    if arrived:
        engine.maintain()
    reports = engine.maintain(cut=cut)
    assert {report.reason for report in reports} == {"already_current" if arrived else "table_replaced"}
    for name in ("one", "two"):
        assert not difference(engine.read(f"{schema}.{name}"), spark.sql(QUERY.format(s=schema)))


def test_a_table_younger_than_the_instant_is_taken_as_it_is(engine: Engine, spark, schema: str) -> None:
    spark.sql(f"INSERT INTO {schema}.t VALUES (3, 0)").collect()
    cut = engine.cut(as_of=datetime(2000, 1, 1, tzinfo=UTC))
    spark.sql(f"INSERT INTO {schema}.t VALUES (4, 0)").collect()
    reports = engine.maintain(cut=cut)
    assert [dict(report.to_versions) for report in reports] == [{f"{schema}.t": 3}] * 2
    expected = spark.sql(QUERY.format(s=schema).replace(f"{schema}.t", f"{schema}.t VERSION AS OF 3"))
    assert not difference(engine.read(f"{schema}.two"), expected)


def test_a_full_run_that_is_tried_again_computes_no_view_twice(engine: Engine, spark, schema: str) -> None:
    spark.sql(f"INSERT INTO {schema}.t VALUES (3, 0)").collect()
    first = engine.maintain([f"{schema}.one"], policy="full", run_id="r", cut=engine.cut())
    again = engine.maintain(policy="full", run_id="r", cut=engine.cut())
    assert [(report.strategy, report.reason) for report in (*first, *again)] == [
        ("full", "requested"),
        ("noop", "already_current"),
        ("full", "requested"),
    ]
    other = engine.maintain(policy="full", run_id="s", cut=engine.cut())
    assert [report.strategy for report in other] == ["full", "full"]
