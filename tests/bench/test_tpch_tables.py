"""The loaded tables: sizes, keys, properties. RF1, RF2 and RF3 change the rows that they should, as many as they should."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import tpch_data
from bench.order_keys import order_key, refresh_blocks
from bench.refresh_functions import UPDATE_STATEMENTS
from ivm_core.plan.definition_table import parse_table
from tests.bench.conftest import PERCENT, SCALE, Database

pytestmark = pytest.mark.spark

DEFINITIONS = {
    table: parse_table((tpch_data.SQL_FOLDER / "tables" / f"{table}.sql").read_text()) for table in tpch_data.TABLES
}
ADDED, DELETED = refresh_blocks(SCALE, PERCENT, 2)


def keys(database: Database, step: str) -> set[int]:
    return {row[0] for row in database.at(step, "orders").select("o_orderkey").collect()}


def changed(database: Database, step: str, before: str, table: str) -> int:
    """Rows of a table that a step took away or replaced."""
    return database.at(before, table).exceptAll(database.at(step, table)).count()


@pytest.mark.parametrize("table", tpch_data.TABLES)
def test_table_has_its_rows_and_a_unique_key(database: Database, table: str) -> None:
    loaded = database.at("loaded", table)
    expected = tpch_data.expected_rows(table, SCALE)
    rows = loaded.count()
    assert rows == pytest.approx(expected, rel=0.01) if table == "lineitem" else rows == expected
    key = DEFINITIONS[table].schema.primary_key
    assert loaded.select(*key).distinct().count() == rows


@pytest.mark.parametrize("table", tpch_data.TABLES)
def test_table_records_its_changes(database: Database, table: str) -> None:
    detail = database.spark.sql(f"DESCRIBE DETAIL tpch.{table}").collect()[0]
    assert detail["properties"]["delta.enableChangeDataFeed"] == "true"


@pytest.mark.parametrize("step", [pytest.param("loaded", marks=pytest.mark.slow), "updated"])
def test_declared_foreign_keys_hold(database: Database, step: str) -> None:
    for table, definition in DEFINITIONS.items():
        for key in definition.schema.foreign_keys:
            parent = key.table.rpartition(".")[2]
            wanted = database.at(step, table).select(*key.columns).distinct()
            known = database.at(step, parent).select(*key.referenced)
            assert wanted.exceptAll(known).count() == 0, f"{table} {key} after {step}"


def test_rf1_adds_the_orders_of_the_formula(database: Database) -> None:
    assert keys(database, "inserted") - keys(database, "loaded") == set(ADDED.keys())
    assert changed(database, "inserted", "loaded", "orders") == 0
    assert database.rows["inserted"]["orders"] == ADDED.orders == round(SCALE * 1_500_000 * PERCENT / 100)


def test_rf1_adds_one_to_seven_lines_an_order(database: Database) -> None:
    lines = database.at("inserted", "lineitem").exceptAll(database.at("loaded", "lineitem"))
    counts = lines.groupBy("l_orderkey").count().collect()
    assert {row["l_orderkey"] for row in counts} == set(ADDED.keys())
    assert all(1 <= row["count"] <= 7 for row in counts)
    assert sum(row["count"] for row in counts) == database.rows["inserted"]["lineitem"]


def test_rf1_keeps_the_bodies_of_loaded_orders(database: Database) -> None:
    loaded = database.at("loaded", "orders").drop("o_orderkey")
    new = database.at("inserted", "orders").exceptAll(database.at("loaded", "orders")).drop("o_orderkey")
    assert new.exceptAll(loaded).count() == 0


def test_rf2_deletes_the_orders_of_the_formula_with_their_lines(database: Database) -> None:
    assert keys(database, "inserted") - keys(database, "deleted") == set(DELETED.keys())
    assert keys(database, "deleted") >= set(ADDED.keys())
    gone = database.at("inserted", "lineitem").exceptAll(database.at("deleted", "lineitem"))
    assert {row[0] for row in gone.select("l_orderkey").distinct().collect()} == set(DELETED.keys())
    assert database.rows["deleted"] == {"orders": DELETED.orders, "lineitem": gone.count()}
    assert database.at("deleted", "lineitem").where(f"l_orderkey = {order_key(DELETED.first)}").count() == 0


def test_rf3_changes_its_share_of_every_table(database: Database) -> None:
    for table in UPDATE_STATEMENTS:
        rows = database.rows["updated"][table]
        assert rows == pytest.approx(tpch_data.expected_rows(table, SCALE) * PERCENT / 100, rel=0.1, abs=1), table
        # An update may leave a row as it was: a line at 50 pieces, for example, only changes its price.
        assert 0.9 * rows <= changed(database, "updated", "deleted", table) <= rows, table
        assert database.at("updated", table).count() == database.at("deleted", table).count()


def test_rf3_moves_rows_between_groups(database: Database) -> None:
    groups = {
        "lineitem": "l_returnflag",
        "orders": "year(o_orderdate)",
        "customer": "c_mktsegment",
        "supplier": "s_nationkey",
    }
    for table, group in groups.items():
        before, after = (
            {
                row[0]: row[1]
                for row in database.at(step, table).selectExpr(f"{group} AS g").groupBy("g").count().collect()
            }
            for step in ("deleted", "updated")
        )
        assert before != after, table


def test_rf3_changes_lines_of_orders_that_move_and_of_others(database: Database) -> None:
    lines = database.at("deleted", "lineitem").exceptAll(database.at("updated", "lineitem"))
    orders = database.at("deleted", "orders").exceptAll(database.at("updated", "orders"))
    of_lines = {row[0] for row in lines.select("l_orderkey").distinct().collect()}
    moved = {row[0] for row in orders.select("o_orderkey").collect()}
    assert of_lines & moved and of_lines - moved and moved - of_lines


@pytest.mark.slow
def test_same_seed_makes_the_same_changes_another_seed_others(database: Database) -> None:
    spark = database.spark

    def inserted(seed: int) -> int:
        for table in ("orders", "lineitem"):
            spark.sql(f"RESTORE TABLE tpch.{table} TO VERSION AS OF {database.versions['loaded'][table]}").collect()
        replace(database.stream, seed=seed).insert_orders(spark, 2)
        total = spark.table("tpch.lineitem").selectExpr("sum(xxhash64(*) % 1000000007)").collect()[0][0]
        return int(total)

    def expected() -> int:
        total = database.at("inserted", "lineitem").selectExpr("sum(xxhash64(*) % 1000000007)").collect()[0][0]
        return int(total)

    assert inserted(database.stream.seed) == expected()
    assert inserted(database.stream.seed + 1) != expected()
