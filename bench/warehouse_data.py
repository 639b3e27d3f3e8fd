"""The model warehouse's raw tables: made from row numbers alone, and changed by the same statements with later numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from bench.deployment import Deployment, log_of, make_schemas
from ivm_core.batch.volume import changed_rows
from ivm_core.plan.definition import parse_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = Path(__file__).parent / "warehouse"
SCHEMAS = ("wh_gold", "wh_silver", "wh_bronze", "wh_raw")
ORDERS_AT_SCALE_1 = 1_000_000
STORES = 50
# Rows of a table for each order; those of lines and the like follow from the orders themselves.
PER_ORDER = {"customer_events": 0.15, "product_events": 0.01, "page_views": 3.0}
CHANGE_SHARE = 4  # a change inserts a whole percentage of orders, and touches a fourth of it by each UPDATE and DELETE


@dataclass(frozen=True, slots=True)
class WarehouseData:
    """The size of a warehouse: everything else follows from it."""

    scale: float

    @property
    def orders(self) -> int:
        return max(200, round(ORDERS_AT_SCALE_1 * self.scale))

    def load(self, place: Deployment) -> None:
        """Create the raw tables, fill them, and tell the engine of their keys."""
        make_schemas(place.spark, *SCHEMAS)
        for file in sorted((FOLDER / "tables").glob("*.sql")):
            place.spark.sql(file.read_text("utf-8")).collect()
        for table in _tables():
            _run(place.spark, "load", table, first=0, last=self._numbers(table, self.orders), **self._sizes())
            schema = parse_table((FOLDER / "tables" / f"{table}.sql").read_text("utf-8")).schema
            place.engine.register_table(schema.name, primary_key=schema.primary_key)

    def changes(
        self, spark: SparkSession, percent: float, loaded: int, repeats: int
    ) -> Iterator[tuple[int, dict[str, int]]]:
        """Make ``repeats`` changes of ``percent`` of the orders, ``loaded`` of which are there.

        After each, yields how many there are then and the changed rows of each table.
        """
        step = max(2, round(100 / percent * CHANGE_SHARE))
        for turn in range(repeats):
            more = loaded + max(1, round(self.orders * percent / 100))
            before = {table: _newest(spark, table) for table in _tables()}
            for table in _tables():
                if table != "stores":
                    first, last = self._numbers(table, loaded), self._numbers(table, more)
                    _run(spark, "load", table, first=first, last=last, **self._sizes())
            for file in sorted((FOLDER / "change").glob("*.sql")):
                _run(spark, "change", file.stem, step=step, residue=(loaded + turn) % step)
            loaded = more
            yield loaded, {f"wh_raw.{table}": _rows_since(spark, table, version) for table, version in before.items()}

    def _numbers(self, table: str, orders: int) -> int:
        """How many row numbers a table takes where there are so many orders."""
        return STORES if table == "stores" else max(1, round(orders * PER_ORDER.get(table, 1.0)))

    def _sizes(self) -> dict[str, int]:
        return {
            "customers": max(1, round(self.orders * PER_ORDER["customer_events"] * 2 / 3)),
            "products": max(1, round(self.orders * PER_ORDER["product_events"] * 2 / 3)),
            "stores": STORES,
        }


def _tables() -> list[str]:
    return [file.stem for file in sorted((FOLDER / "load").glob("*.sql"))]


def _run(spark: SparkSession, folder: str, name: str, **arguments: int) -> None:
    """Run a statement with the arguments in place of its ``:names``."""
    tree = sqlglot.parse_one((FOLDER / folder / f"{name}.sql").read_text("utf-8"), dialect="spark")
    spark.sql(exp.replace_placeholders(tree, **arguments).sql("spark")).collect()


def _newest(spark: SparkSession, table: str) -> int:
    return log_of(spark, f"wh_raw.{table}").version()


def _rows_since(spark: SparkSession, table: str, version: int) -> int:
    """Rows of change that the commits after a version made: an UPDATE's count twice."""
    log = log_of(spark, f"wh_raw.{table}")
    return changed_rows(log.commits(version, log.version()))
