"""A scalar subquery that comes to return two rows: the batch fails, nothing is written, and repair is enough."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.database import FEED, check_views, create_views

pytestmark = pytest.mark.spark

QUERY = "SELECT p.id, (SELECT name FROM single.owner o WHERE o.k = p.k) AS owner FROM single.parcel p"
REPAIRS = {
    "the second row goes": "DELETE FROM single.owner WHERE name = 'second'",
    "the concerned row goes": "DELETE FROM single.parcel WHERE k = 2",
    "the concerned row meets another": "UPDATE single.parcel SET k = 1 WHERE k = 2",
}


@pytest.fixture(scope="module")
def engine(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("single")
    spark.sql("CREATE SCHEMA IF NOT EXISTS single")
    for table in ("parcel (id int, k int)", "owner (k int, name string)"):
        spark.sql(f"CREATE TABLE single.{table} USING DELTA {FEED}")
    spark.sql("INSERT INTO single.parcel VALUES (1, 1), (2, 2), (3, 3), (4, NULL)").collect()
    # 9 has two owners and no parcel: nobody asks.
    spark.sql("INSERT INTO single.owner VALUES (1, 'one'), (2, 'two'), (9, 'a'), (9, 'b'), (NULL, 'none')").collect()
    with Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse") as opened:
        create_views(opened, "v", {"owners": QUERY})
        yield opened


def test_an_aggregate_of_no_rows_is_what_spark_makes_it(engine, spark):
    calls = {
        "count": "count(k)",
        "list": "collect_list(k) IGNORE NULLS",
        "none": "max(k)",
        "bits": "bitmap_count(bitmap_construct_agg(bitmap_bit_position(k)))",
        "any_bit": "bitmap_count(bitmap_or_agg(unhex(lpad(hex(k), 4, '0'))))",
        "all_bits": "bitmap_count(bitmap_and_agg(unhex(lpad(hex(k), 4, '0'))))",
    }
    spark.sql(f"CREATE TABLE single.parts (k int) USING DELTA {FEED}").collect()
    spark.sql("INSERT INTO single.parts VALUES (1), (3)").collect()
    queries = {
        name: f"SELECT p.id, (SELECT {call} FROM single.parts a WHERE a.k = p.k) AS m FROM single.parcel p"
        for name, call in calls.items()
    } | {"lists": "SELECT sort_array(transform(collect_list(struct(k AS v)), s -> s.v)) AS ks FROM single.parcel"}
    create_views(engine, "v", queries)
    for change in ("DELETE FROM single.parts WHERE k = 1", "INSERT INTO single.parts VALUES (2)"):
        spark.sql(change).collect()
        engine.maintain([f"v.{name}" for name in queries])
        check_views(engine, "v", queries, change)
    for name in queries:
        engine.drop(f"v.{name}")


@pytest.mark.parametrize("repair", REPAIRS.values(), ids=REPAIRS)
def test_a_second_row_fails_the_batch_until_it_is_repaired(engine, spark, repair):
    assert not difference(engine.read("v.owners"), spark.sql(QUERY))
    standing = sorted(map(tuple, engine.read("v.owners").collect()), key=str)
    spark.sql("INSERT INTO single.parcel VALUES (5, 1)").collect()
    spark.sql("INSERT INTO single.owner VALUES (2, 'second')").collect()
    (report,) = engine.maintain(raise_errors=False)
    assert report.error.startswith("The query has no result for the rows that its tables hold now: ")
    assert "A scalar subquery returned more than one row for k = 2: make its rows unique" in report.error
    assert "\n" not in report.error
    assert sorted(map(tuple, engine.read("v.owners").collect()), key=str) == standing
    spark.sql(repair).collect()
    (report,) = engine.maintain()
    assert report.strategy == "affected"
    assert not difference(engine.read("v.owners"), spark.sql(QUERY))
    # Back to where it began, for the next way of repairing.
    spark.sql("DELETE FROM single.parcel WHERE id IN (2, 5)").collect()
    spark.sql("DELETE FROM single.owner WHERE name = 'second'").collect()
    spark.sql("INSERT INTO single.parcel VALUES (2, 2)").collect()
    engine.maintain()
