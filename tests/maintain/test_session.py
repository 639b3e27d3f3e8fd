"""What a Spark session is told of tables and views: a caller's own knows their names, another when a name is used."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import InvalidNameError

pytestmark = pytest.mark.spark

VIEW = "CREATE INCREMENTAL MATERIALIZED VIEW named.totals AS SELECT g, sum(v) AS total FROM named.t GROUP BY g"


@pytest.fixture
def place(spark, tmp_path):
    spark.sql("CREATE SCHEMA named").collect()
    spark.sql(
        "CREATE TABLE named.t (g string, v int) USING DELTA TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    ).collect()
    options = {"catalog": f"sqlite:///{tmp_path}/ivm.db", "warehouse": tmp_path / "w"}
    with Engine.open(spark=spark, **options) as engine:
        engine.create(VIEW)
    yield options
    spark.sql("DROP SCHEMA named CASCADE").collect()


@pytest.mark.parametrize("given", [False, True], ids=["opened for the engine", "the caller's"])
def test_names_are_known_where_they_are_used(spark, place, given):
    spark.sql("INSERT INTO named.t VALUES ('a', 1), ('a', 2)").collect()
    # As in another process, whose session has heard of nothing.
    spark.sql("DROP VIEW named.totals").collect()
    with Engine.open(spark=spark if given else lambda: spark, **place) as engine:
        (report,) = engine.maintain()
        assert (str(report.strategy), report.error) == ("incremental", None)
        assert spark.catalog.tableExists("named.totals") is given
        assert engine.query("SELECT total FROM named.totals").collect() == [(3,)]
        assert spark.catalog.tableExists("named.totals")


@pytest.mark.parametrize("spelling", ["named.totals", "Named.TOTALS", "`named`.`totals`", "spark_catalog.named.totals"])
def test_every_spelling_that_create_takes_names_the_view(spark, place, spelling):
    with Engine.open(spark=spark, **place) as engine:
        assert engine.read(spelling).collect() == []
        (report,) = engine.maintain(spelling)  # one name need not stand in a list
        (status,) = engine.status(spelling)
        assert (report.view, status.view) == ("named.totals", "named.totals")


def test_a_table_that_spark_alone_knows_keeps_its_name(spark, place):
    spark.sql("CREATE TABLE named.taken (id int) USING DELTA").collect()
    other = VIEW.replace("named.totals", "named.taken")
    with Engine.open(spark=spark, **place) as engine:
        for work in (engine.create, engine.explain):
            with pytest.raises(InvalidNameError, match=r"named\.taken is the name of a table in the Spark session"):
                work(other)
        assert [view.name for view in engine.catalog.views()] == ["named.totals"]
        spark.sql("DROP TABLE named.taken").collect()
        spark.sql("CREATE VIEW named.taken AS SELECT 1 AS id").collect()  # as a drop leaves it that was killed
        assert engine.create(other).status == "active"
