"""A column that one view of a run needs came to its table later: the versions that another view reads do not have it."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.maintain.database import check_views, create_views, run
from tests.sampling import one_in

pytestmark = pytest.mark.spark

NEW = {"new": "SELECT id, c FROM later.t"}
OLD = {
    "rows": "SELECT id, a FROM later.t",
    "pairs": "SELECT u.id, u.y, t.a FROM later.u LEFT JOIN later.t ON t.id = u.id",
}
FEED = "'delta.enableChangeDataFeed' = 'true'"
KINDS = {
    "plain": FEED,
    "without feed": "'delta.enableDeletionVectors' = 'false'",
    "with deletion vectors": f"{FEED}, 'delta.enableDeletionVectors' = 'true'",
    "with column mapping": f"{FEED}, 'delta.columnMapping.mode' = 'name'",
}
CHANGES = (
    "INSERT INTO later.t (id, a) VALUES (3, 30)",
    "DELETE FROM later.t WHERE id = 1",
    "INSERT INTO later.u VALUES (3, 7)",
)


@pytest.fixture(params=one_in(len(KINDS), KINDS.values()), ids=KINDS.keys())
def engine(request, spark, tmp_path):
    run(
        spark,
        "CREATE SCHEMA later",
        f"CREATE TABLE later.t (id int, a int, b int) USING DELTA TBLPROPERTIES ({request.param})",
        f"CREATE TABLE later.u (id int, y int) USING DELTA TBLPROPERTIES ({FEED})",
        "INSERT INTO later.t VALUES (1, 10, 0), (2, 20, 0)",
        "INSERT INTO later.u VALUES (1, 5), (2, 6)",
    )
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as opened:
        create_views(opened, "later", OLD)
        yield opened
    run(spark, "DROP SCHEMA later CASCADE")


def test_a_range_that_began_before_it(engine, spark):
    mapped = "columnMapping" in str(spark.sql("SHOW TBLPROPERTIES later.t").collect())
    run(
        spark, "ALTER TABLE later.t ADD COLUMN c int", *(["ALTER TABLE later.t RENAME COLUMN b TO d"] if mapped else ())
    )
    create_views(engine, "later", NEW)
    run(spark, *CHANGES)
    reports = {report.view: str(report.strategy) for report in engine.maintain()}
    assert reports == dict.fromkeys(("later.new", "later.rows"), "incremental") | {
        "later.pairs": reports["later.pairs"]
    }
    assert reports["later.pairs"] in ("incremental", "affected")
    check_views(engine, "later", OLD | NEW)


def test_a_range_that_ends_before_it(engine, spark):
    run(spark, *CHANGES)
    cut = engine.cut(["later.rows", "later.pairs"])
    expected = {name: spark.sql(query).collect() for name, query in OLD.items()}
    run(spark, "ALTER TABLE later.t ADD COLUMN c int", "INSERT INTO later.t (id, c) VALUES (4, 1)")
    create_views(engine, "later", NEW)
    engine.maintain(cut=cut)
    for name, rows in expected.items():
        assert sorted(engine.read(f"later.{name}").collect()) == sorted(rows)
    engine.maintain()
    check_views(engine, "later", OLD | NEW)
