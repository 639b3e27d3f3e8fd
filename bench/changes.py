"""Changes of one kind and size to the TPC-H tables, as many as are asked for, and the way back to the loaded state."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bench.deployment import log_of
from bench.order_keys import LAST_SEQUENCE, loaded_orders
from bench.refresh_functions import Stream
from bench.tpch_data import SCHEMA, TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_DRIFT = 50.0  # percent by which a stream of inserts or deletes alone may change the tables' size


class Kind(StrEnum):
    """Which of the refresh functions make a change."""

    RF1 = "RF1"
    RF2 = "RF2"
    BOTH = "RF1+RF2"
    RF3 = "RF3"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The versions of the base tables right after loading."""

    versions: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, spark: SparkSession) -> Loaded:
        names = [f"{SCHEMA}.{table}" for table in TABLES]
        return cls(tuple((name, log_of(spark, name).version()) for name in names))

    def restore(self, spark: SparkSession) -> None:
        """Bring the tables back by Delta's RESTORE: one more commit each, by which views move too."""
        from delta.tables import DeltaTable

        for name, version in self.versions:
            log = log_of(spark, name)
            last = log.commits(log.version() - 1, log.version())
            # What is as loaded, or was brought back already, needs no commit that its views would look at.
            if log.version() != version and (not last or last[0].operation != "RESTORE"):
                DeltaTable.forName(spark, name).restoreToVersion(version)


def apply_change(spark: SparkSession, stream: Stream | None, kind: Kind, number: int) -> dict[str, int]:
    """Make change ``number`` of the stream (None: no change at all); return the changed rows of each table."""
    rows: Counter[str] = Counter()
    if stream is None:
        return {}
    if kind in (Kind.RF1, Kind.BOTH):
        rows.update(stream.insert_orders(spark, number))
    if kind in (Kind.RF2, Kind.BOTH):
        rows.update(stream.delete_orders(spark, number))
    if kind is Kind.RF3:
        rows.update(stream.update_rows(spark, number))
    return {f"{SCHEMA}.{table}": count for table, count in rows.items()}


def changes_in_a_row(scale: float, percent: float, kind: Kind) -> int:
    """How many changes can follow each other before the tables must be brought back to the loaded state.

    Inserts and deletes of the same set keep the size, until the order keys are used up; one of them alone must not change
    it by more than half, or later changes would be measured on other tables than the first.
    """
    if percent <= 0 or kind is Kind.RF3:
        return 1_000_000
    sets = loaded_orders(scale) // max(1, round(loaded_orders(scale) * percent / 100))
    return sets * LAST_SEQUENCE if kind is Kind.BOTH else max(1, min(sets, int(MOST_DRIFT / percent)))
