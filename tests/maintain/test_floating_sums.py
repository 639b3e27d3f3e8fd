"""Sums of DOUBLE below a join: the rows that a batch takes away may have been added up in another order than the stored ones."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.engine import write_bag
from ivm_core.errors import DriftError
from tests.bags import difference
from tests.maintain.database import FEED, create_views, set_limits
from tests.sampling import one_in

pytestmark = pytest.mark.spark

QUERY = "SELECT n.name, g.s FROM {s}.names n JOIN (SELECT k, sum(f) AS s FROM {s}.facts GROUP BY k) g ON n.k = g.k"


@pytest.fixture(params=one_in(2, [100_000, 0]), ids=["rewritten", "merged"])
def engine(request, spark, schema, tmp_path):
    spark.sql(f"CREATE TABLE {schema}.facts (k INT, f DOUBLE) USING DELTA {FEED}")
    # In two tasks the sum of 1 is greater by 10 than in one: 1e16 + 1 is 1e16. That of 2 is nearly 0, or 0.
    for rows in ([(1, 1e16)] + [(1, 1.0)] * 10, [(1, 1.0)] * 10 + [(2, 0.1), (2, 0.2), (2, -0.3)]):
        spark.createDataFrame(rows, "k INT, f DOUBLE").coalesce(1).writeTo(f"{schema}.facts").append()
    spark.sql(f"CREATE TABLE {schema}.names (k INT, name STRING) USING DELTA {FEED}")
    spark.sql(f"INSERT INTO {schema}.names VALUES (1, 'a'), (1, 'a'), (2, 'b'), (2, 'c')")
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "warehouse") as opened:
        set_limits(opened, replace_rows=request.param)
        create_views(opened, schema, {"v": QUERY.format(s=schema)})
        yield opened


def test_a_row_with_a_sum_is_found_again_after_its_files_changed(engine, spark, schema):
    spark.sql(f"OPTIMIZE {schema}.facts").collect()
    spark.sql(f"UPDATE {schema}.names SET name = 'd' WHERE k = 1")
    spark.sql(f"DELETE FROM {schema}.names WHERE name = 'c'")
    _check(engine, schema, [("b", 0.0), ("d", 1e16), ("d", 1e16)])
    # Both sides of the join change: two terms take away copies of one stored row, and one takes away what the other adds.
    spark.sql(
        f"INSERT INTO {schema}.facts VALUES (1, 0.1D), (1, 1e16D), (2, NULL), (2, 7D), (3, double('NaN')), (3, 1D)"
    )
    spark.sql(f"INSERT INTO {schema}.names VALUES (1, 'e'), (3, 'f'), (3, 'f')")
    spark.sql(f"UPDATE {schema}.names SET name = 'e' WHERE name = 'b'")
    _check(
        engine, schema, [("d", 2e16), ("d", 2e16), ("e", 7.0), ("e", 2e16), ("f", float("nan")), ("f", float("nan"))]
    )
    spark.sql(f"DELETE FROM {schema}.facts WHERE f = 1 AND k = 1 OR f IS NULL")
    spark.sql(f"DELETE FROM {schema}.names WHERE k = 3")
    _check(engine, schema, [("d", 2e16), ("d", 2e16), ("e", 7.0), ("e", 2e16)])


def test_rows_whose_digits_no_order_fixes_are_looked_for_nearby_and_computed_anew_where_they_are_not_found(
    engine, spark, schema, monkeypatch
):
    query = f"SELECT n.name, g.s FROM {schema}.names n JOIN (SELECT k, covar_pop(f, f + 1) AS s FROM {schema}.facts GROUP BY k) g ON n.k = g.k"
    create_views(engine, schema, {"near": query})
    spark.sql(f"OPTIMIZE {schema}.facts").collect()
    spark.sql(f"DELETE FROM {schema}.names WHERE name IN ('a', 'c')")
    (report,) = engine.maintain([f"{schema}.near"])
    assert (report.strategy, engine.validate(f"{schema}.near").ok) == ("affected", True)
    spark.sql(f"DELETE FROM {schema}.names WHERE name = 'b'")

    def far_away(writing, victims, applied):
        raise DriftError("a row to remove is not stored")

    monkeypatch.setattr(write_bag, "_find", far_away)
    with pytest.raises(DriftError):
        engine.maintain([f"{schema}.near"], policy="incremental_strict")
    (report,) = engine.maintain([f"{schema}.near"])
    assert (report.strategy, report.reason, report.detail) == ("full", "changes_fail", "a row to remove is not stored")
    assert engine.read(f"{schema}.near").count() == 0


def test_rows_that_a_sum_decides_about(engine, spark, schema):
    """The state's sum has been added in the order of two files, that of a batch would be in the order of one."""
    query = f"SELECT n.name FROM {schema}.names n WHERE EXISTS (SELECT 1 FROM {schema}.facts f WHERE f.k = n.k GROUP BY f.k HAVING sum(f.f) > {{}})"
    create_views(engine, schema, {"many": query.format("1.0000000000000005e16D"), "one": query.format("0.0D")})
    spark.sql(f"OPTIMIZE {schema}.facts").collect()
    spark.sql(f"INSERT INTO {schema}.facts VALUES (1, -2e16D), (2, -1D), (3, 1D)")
    reports = engine.maintain([f"{schema}.many", f"{schema}.one"])
    assert {(report.strategy, report.reason) for report in reports} == {("full", "unsupported_operator")}
    assert [engine.read(f"{schema}.{name}").count() for name in ("many", "one")] == [0, 0]


def test_what_is_made_of_a_sum_is_no_difference_where_its_last_digits_are_others(engine, spark, schema):
    query = f"SELECT k, CAST(sum(f) AS STRING) AS s FROM {schema}.facts GROUP BY k HAVING sum(f) > 1e16 OR k = 2"
    create_views(engine, schema, {"text": query})
    assert engine.validate(f"{schema}.text").ok
    spark.sql(f"OPTIMIZE {schema}.facts").collect()
    assert difference(engine.read(f"{schema}.text"), spark.sql(query))
    assert engine.validate(f"{schema}.text").ok
    spark.sql(f"UPDATE {schema}.facts SET f = 7 WHERE f = 0.2D")
    engine.maintain()
    assert engine.validate(f"{schema}.text").ok
    spark.sql(f"UPDATE delta.`{engine.catalog.view(f'{schema}.text').location}` SET sum = 3 WHERE k = 2")
    assert not engine.validate(f"{schema}.text").ok


def _check(engine, schema, expected):
    (report,) = engine.maintain()
    assert report.strategy == "affected"
    rows = sorted(engine.read(f"{schema}.v").collect(), key=lambda row: (row.name, row.s))
    assert [row.name for row in rows] == [name for name, _ in expected]
    assert [row.s for row in rows] == pytest.approx([s for _, s in expected], rel=1e-9, abs=1e-6, nan_ok=True)
    assert engine.validate(f"{schema}.v").ok
