"""An expression that fails for rows which only the changes join: the query has a result, so the view has it too."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import QueryFails
from tests.bags import difference
from tests.maintain.database import FEED

pytestmark = pytest.mark.spark

QUERIES = {
    "value": "SELECT n.id, n.x / d.y AS q FROM {s}.n n JOIN {s}.d d ON n.k = d.k",
    "condition": "SELECT n.id FROM {s}.n n JOIN {s}.d d ON n.k = d.k WHERE n.x / d.y > 1",
    "groups": "SELECT n.k, count_if(n.x / d.y > 1) AS c FROM {s}.n n JOIN {s}.d d ON n.k = d.k GROUP BY n.k",
    "outer": "SELECT n.id, d.y FROM {s}.n n LEFT JOIN {s}.d d ON n.k = d.k AND n.x / d.y > 1",
    "test": "SELECT n.id FROM {s}.n n WHERE EXISTS (SELECT 1 FROM {s}.d d WHERE n.k = d.k AND n.x / d.y > 1)",
}


@pytest.fixture
def engine(spark, schema, tmp_path):
    spark.sql(f"CREATE TABLE {schema}.n (id INT, k INT, x INT) USING DELTA {FEED}").collect()
    spark.sql(f"CREATE TABLE {schema}.d (k INT, y INT) USING DELTA {FEED}").collect()
    spark.sql(f"INSERT INTO {schema}.n VALUES (1, 1, 10)").collect()
    spark.sql(f"INSERT INTO {schema}.d VALUES (1, 2), (2, 0)").collect()
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as opened:
        for name, query in QUERIES.items():
            policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
            opened.create(f"CREATE MATERIALIZED VIEW {schema}.{name} {policy} AS {query.format(s=schema)}")
        yield opened


def test_the_whole_query_tells_whether_there_is_a_result(engine: Engine, spark, schema: str) -> None:
    spark.sql(f"UPDATE {schema}.d SET y = 3 WHERE k = 2").collect()
    spark.sql(f"INSERT INTO {schema}.n VALUES (2, 2, 7)").collect()
    reports = engine.maintain()
    assert {str(report.reason) for report in reports} <= {"changes_fail", "linear", "affected_keys"}
    assert ("full", "changes_fail") in {(str(report.strategy), str(report.reason)) for report in reports}
    for name, query in QUERIES.items():
        assert not difference(engine.read(f"{schema}.{name}"), spark.sql(query.format(s=schema))), name
    # The next batch is incremental again.
    spark.sql(f"INSERT INTO {schema}.n VALUES (3, 1, 8)").collect()
    assert {str(report.reason) for report in engine.maintain()} <= {"linear", "affected_keys"}
    for name, query in QUERIES.items():
        assert not difference(engine.read(f"{schema}.{name}"), spark.sql(query.format(s=schema))), name


def test_a_query_without_a_result_fails_whichever_way(engine: Engine, spark, schema: str) -> None:
    standing = engine.read(f"{schema}.value").collect()
    spark.sql(f"INSERT INTO {schema}.n VALUES (2, 2, 7)").collect()
    with pytest.raises(QueryFails):
        engine.maintain([f"{schema}.value"])
    assert engine.read(f"{schema}.value").collect() == standing
    spark.sql(f"DELETE FROM {schema}.n WHERE id = 2").collect()
    engine.maintain()
    assert not difference(engine.read(f"{schema}.value"), spark.sql(QUERIES["value"].format(s=schema)))


def test_a_strict_policy_computes_nothing_in_full(engine: Engine, spark, schema: str) -> None:
    spark.sql(f"UPDATE {schema}.d SET y = 3 WHERE k = 2").collect()
    spark.sql(f"INSERT INTO {schema}.n VALUES (2, 2, 7)").collect()
    with pytest.raises(QueryFails):
        engine.maintain([f"{schema}.value"], policy="incremental_strict")
    assert {batch.strategy for batch in engine.history(f"{schema}.value", 1)} == {"incremental"}
