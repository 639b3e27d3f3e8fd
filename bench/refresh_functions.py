"""Changes to TPC-H's base tables: the refresh functions RF1 and RF2, and updates of our own, labelled RF3.

RF1 adds orders with their lines, RF2 deletes as many. Their keys are dbgen's (``bench.order_keys``); the bodies of new
orders are those of a block of loaded orders that the seed picks, so that foreign keys hold and values are distributed
as in the loaded data (dbgen would draw them afresh). TPC-H has no updates: RF3 is not part of it. RF3 raises prices
and supply costs, moves orders by a quarter, customers to another market segment, suppliers to another nation and
lines to another return flag, so that rows move between the groups of the views. Everything is Spark SQL and
DataFrames, on classic sessions and Spark Connect; the same seed and numbers give the same changes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from bench.order_keys import KeyBlock, loaded_orders, refresh_blocks
from bench.tpch_data import SCHEMA, expected_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DELETE_LINES = """
DELETE FROM tpch.lineitem
WHERE l_orderkey BETWEEN :low AND :high AND (shiftright(l_orderkey, 3) & 3) = :sequence
"""

DELETE_ORDERS = """
DELETE FROM tpch.orders
WHERE o_orderkey BETWEEN :low AND :high AND (shiftright(o_orderkey, 3) & 3) = :sequence
"""

# Every RF3 statement takes the rows whose key is congruent to :residue modulo :step. Lines are taken by their order's
# index, with twice the step and two residues: half of the changed lines belong to orders that move in the same batch.
UPDATE_STATEMENTS = {
    "lineitem": """
UPDATE tpch.lineitem SET
  l_extendedprice = CAST(l_extendedprice * 1.05 AS DECIMAL(15, 2)),
  l_quantity = CAST(l_quantity % 50 + 1 AS DECIMAL(15, 2)),
  l_returnflag = CASE l_returnflag WHEN 'N' THEN 'R' ELSE l_returnflag END
WHERE (shiftleft(shiftright(l_orderkey, 5), 3) + (l_orderkey & 7)) % (2 * :step) IN (:residue, :residue + 1)
""",
    "orders": """
UPDATE tpch.orders SET o_orderdate = date_add(o_orderdate, 91)
WHERE (shiftleft(shiftright(o_orderkey, 5), 3) + (o_orderkey & 7)) % :step = :residue
""",
    "customer": """
UPDATE tpch.customer SET
  c_mktsegment = CASE c_mktsegment WHEN 'BUILDING' THEN 'AUTOMOBILE' ELSE 'BUILDING' END
WHERE c_custkey % :step = :residue
""",
    "partsupp": """
UPDATE tpch.partsupp SET ps_supplycost = CAST(ps_supplycost * 1.05 AS DECIMAL(15, 2))
WHERE ps_partkey % :step = :residue
""",
    "supplier": """
UPDATE tpch.supplier SET s_nationkey = (s_nationkey + 1) % 25
WHERE s_suppkey % :step = :residue
""",
}

# ``bench.order_keys.order_index`` and ``order_key`` in SQL, which means the same in classic and Connect sessions.
INDEX = "shiftleft(shiftright(:key, 5), 3) + (:key & 7) + :shift"
ORDER_KEY = "shiftleft(shiftleft(shiftright(:index, 3), 2) | :sequence, 3) | (:index & 7)"


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of changes to a loaded database. ``percent`` is the share of the rows that each function changes."""

    scale: float
    data: Path  # the generated Parquet, see bench.tpch_data.generate
    percent: float = 0.1
    seed: int = 1

    def insert_orders(self, spark: SparkSession, number: int) -> dict[str, int]:
        """RF1: add the orders of refresh set ``number`` and their lines; return the rows added to each table."""
        added, _ = refresh_blocks(self.scale, self.percent, number)
        donors = self._donors(added.orders, number)
        rows = {}
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            frame = _rekeyed(spark.read.parquet(str(self.data / table)), key, donors, added)
            rows[table] = _append(frame, table)
        return rows

    def delete_orders(self, spark: SparkSession, number: int) -> dict[str, int]:
        """RF2: delete the orders of refresh set ``number`` and their lines; return the rows deleted from each table."""
        _, deleted = refresh_blocks(self.scale, self.percent, number)
        low, high = deleted.key_range
        arguments = {"low": low, "high": high, "sequence": deleted.sequence}
        return {
            "lineitem": _affected(spark, DELETE_LINES, **arguments),
            "orders": _affected(spark, DELETE_ORDERS, **arguments),
        }

    def update_rows(self, spark: SparkSession, number: int) -> dict[str, int]:
        """RF3 (not TPC-H's): update ``percent`` of five tables' rows; return the rows updated in each."""
        rows = {}
        for table, statement in UPDATE_STATEMENTS.items():
            # At least one row of a small table changes.
            step = min(max(1, round(100 / self.percent)), expected_rows(table, self.scale))
            residue = random.Random(f"{self.seed} {number}").randrange(step)
            rows[table] = _affected(spark, statement, step=step, residue=residue)
        return rows

    def _donors(self, orders: int, number: int) -> KeyBlock:
        """A block of as many loaded orders, at a place that the seed and the number decide."""
        start = random.Random(f"{self.seed} {number}").randint(1, loaded_orders(self.scale) - orders + 1)
        return KeyBlock(start, start + orders - 1, 0)


def _rekeyed(frame: DataFrame, key: str, donors: KeyBlock, added: KeyBlock) -> DataFrame:
    """The donors' rows with the keys of the orders to add: ``order_key(index − donors.first + added.first)``."""
    low, high = donors.key_range
    index = _bound(INDEX, key=exp.column(key), shift=added.first - donors.first)
    new_key = _bound(ORDER_KEY, index=exp.paren(index), sequence=added.sequence)
    columns = [exp.alias_(new_key, key) if name == key else exp.column(name) for name in frame.columns]
    donated = frame.where(_bound(":key BETWEEN :low AND :high", key=exp.column(key), low=low, high=high).sql("spark"))
    return donated.selectExpr(*(column.sql("spark") for column in columns))


def _append(frame: DataFrame, table: str) -> int:
    rows: int = frame.count()
    frame.coalesce(1).writeTo(f"{SCHEMA}.{table}").append()
    return rows


def _affected(spark: SparkSession, statement: str, **arguments: int) -> int:
    """Run an UPDATE or DELETE with the arguments in place of its ``:names``; return the rows it changed.

    Delta's UPDATE and DELETE leave Spark's own parameter markers unbound, so sqlglot puts the values in.
    """
    return int(spark.sql(_bound(statement, **arguments).sql("spark")).collect()[0]["num_affected_rows"])


def _bound(sql: str, **arguments: int | exp.Expression) -> exp.Expression:
    """The SQL with the arguments in place of its ``:names``."""
    return exp.replace_placeholders(sqlglot.parse_one(sql, dialect="spark"), **arguments)
