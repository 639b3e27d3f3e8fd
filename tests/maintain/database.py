"""A small database of awkward rows, and the batches of changes that it goes through."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ivm_core import Engine
from tests.bags import difference
from tests.maintain.cases import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def run(spark: SparkSession, *statements: str) -> None:
    for statement in statements:
        spark.sql(statement).collect()


FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


@contextmanager
def processes(spark: SparkSession, folder: Path) -> Iterator[Callable[[], Engine]]:
    """What opens engines on one deployment, as several processes would, and closes them in the end."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(
            Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "w")
        )


def set_limits(engine: Engine, **limits: int) -> None:
    """Give one engine other limits; the defaults are one object for all engines of a process."""
    session = engine._session
    changed = session.settings.limits.model_copy(update=limits)
    session.settings = session.settings.model_copy(update={"limits": changed})


def create_views(engine: Engine, schema: str, queries: Mapping[str, str]) -> None:
    """Create a view of each query in the schema, by its name, that is kept incrementally."""
    for name, query in queries.items():
        policy = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
        engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.{name} {policy} AS {query}")


def check_views(engine: Engine, schema: str, queries: Mapping[str, str], what: str = "") -> None:
    """Each view equals its query as a bag; ``what`` happened before."""
    for name, query in queries.items():
        found = difference(engine.read(f"{schema}.{name}"), engine.spark.sql(query))
        assert not found, (name, what, found[:6])


def follow(
    engine: Engine,
    schema: str,
    queries: Mapping[str, str],
    *statements: str,
    strategies: Collection[str] = ("incremental", "affected", "noop"),
) -> None:
    """After each statement the views are maintained, by these strategies, and equal their queries."""
    for statement in statements:
        run(engine.spark, statement)
        for report in engine.maintain():
            assert report.strategy in strategies, (report.view, report.detail, statement)
        check_views(engine, schema, queries, statement)


class Database:
    """The tables of ``cases.TABLES`` in a schema of their own, filled from a seed."""

    def __init__(self, spark: SparkSession, schema: str, seed: int = 1, feed: bool = True) -> None:
        self.spark, self.schema, self.random = spark, schema, random.Random(seed)
        self.next_id = 0
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for table, columns in TABLES.items():
            spark.sql(f"CREATE TABLE {schema}.{table} ({columns}) USING DELTA {FEED if feed else ''}")
            self.insert(table, 12)

    def run(self, statement: str) -> None:
        """Run a statement in which ``{s}`` stands for the schema."""
        self.spark.sql(statement.replace("{s}", self.schema)).collect()

    def insert(self, table: str, rows: int) -> None:
        """Append random rows in one commit."""
        made = [getattr(self, f"_{table}")() for _ in range(rows)]
        frame = self.spark.createDataFrame(made, TABLES[table])
        frame.coalesce(1).write.format("delta").mode("append").saveAsTable(f"{self.schema}.{table}")

    def _pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    def _fact(self) -> tuple[Any, ...]:
        self.next_id += 1
        day = date(2024, 2, 28) + timedelta(days=self.random.randrange(400))
        at = datetime(2024, 3, 31, 0, 30) + timedelta(hours=self.random.randrange(100))
        return (
            self.next_id,
            self._pick(None, 1, 2, 3, 4),
            self._pick(None, "a", "b", "c", ""),
            self._pick(None, Decimal("0.01"), Decimal("10.50"), Decimal("-3.33"), Decimal("9999999999.99")),
            self._pick(None, 0, 1, 2, 3, 5),
            self._pick(None, 1, 2**58, -(2**58), 7),
            self._pick(None, 0.1, 0.2, float("nan"), -0.0, 0.0, float("inf"), 1e300),
            self._pick(None, day),
            self._pick(None, at),
            self._pick(None, at),
        )

    def _dim(self) -> tuple[Any, ...]:
        return (
            self._pick(None, 1, 2, 2, 3, 5),
            self._pick(None, "n1", "n2"),
            self._pick("eu", "us", None),
            self._pick(Decimal("0.125"), Decimal("7.5"), None),
        )

    def _other(self) -> tuple[Any, ...]:
        return (self._pick(1, 2, 3, 6), self._pick("x", "y", None), self._pick(None, 1, 2, 3))


def first_mix(db: Database) -> None:
    """Inserts, updates and deletes of the same rows in one batch, on both sides of every join."""
    db.insert("fact", 6)
    db.insert("dim", 2)
    db.run("UPDATE {s}.fact SET qty = coalesce(qty, 0) + 1, amount = amount - 1 WHERE id % 3 = 0")
    db.run("UPDATE {s}.fact SET k = 2, amount = -5, g = 'b' WHERE id % 5 = 0")
    db.run("DELETE FROM {s}.fact WHERE id % 4 = 1")
    db.run("UPDATE {s}.fact SET qty = 2 WHERE id % 3 = 0")
    db.run("DELETE FROM {s}.dim WHERE k = 3")
    db.run("UPDATE {s}.other SET score = 2, k = 2 WHERE k = 1")


def only_inserts(db: Database) -> None:
    """A batch without deletions."""
    db.insert("fact", 5)
    db.insert("other", 2)


def groups_vanish_and_tables_are_replaced(db: Database) -> None:
    """Whole groups go, the NULL group too; others come back under other keys; MERGE, INSERT OVERWRITE and TRUNCATE."""
    db.run("DELETE FROM {s}.fact WHERE g = 'a' OR g IS NULL")
    db.run("UPDATE {s}.fact SET g = NULL WHERE g = 'c'")
    db.run("DELETE FROM {s}.dim WHERE k IS NULL")
    db.insert("dim", 3)
    db.run(
        "MERGE INTO {s}.fact t USING (SELECT id, 3 AS k FROM {s}.fact WHERE id % 2 = 0 UNION ALL SELECT 100000, 1) s ON t.id = s.id "
        "WHEN MATCHED AND t.qty = 2 THEN DELETE WHEN MATCHED THEN UPDATE SET k = s.k "
        "WHEN NOT MATCHED THEN INSERT (id, k, g, qty) VALUES (s.id, s.k, 'm', 4)"
    )
    db.run("INSERT OVERWRITE {s}.dim SELECT k, name, region, rate + 1 FROM {s}.dim WHERE k <> 5")
    db.run("TRUNCATE TABLE {s}.other")


def restore_and_optimize(db: Database) -> None:
    """Going back to an older version, and commits that change no row."""
    db.run("RESTORE TABLE {s}.other TO VERSION AS OF 1")
    db.run("OPTIMIZE {s}.fact")
    db.run("ALTER TABLE {s}.dim SET TBLPROPERTIES ('note' = 'x')")
    db.insert("fact", 3)


def insert_and_delete_again(db: Database) -> None:
    """A batch whose net effect is nothing."""
    db.run("INSERT INTO {s}.fact (id, k, g, qty) VALUES (200000, 1, 'z', 9)")
    db.run("DELETE FROM {s}.fact WHERE id = 200000")


BATCHES: tuple[Callable[[Database], None], ...] = (
    first_mix,
    only_inserts,
    groups_vanish_and_tables_are_replaced,
    restore_and_optimize,
    insert_and_delete_again,
)
