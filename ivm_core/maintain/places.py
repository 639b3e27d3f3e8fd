"""Where base tables lie: as the catalogue knows, and as the names in the Spark session say since.

A table may be dropped and made anew, or registered, at another place. The name tells, wherever a session knows it; but a
session may also know a name from this package, which told it so before the table was registered elsewhere. Such a name is
old: it stands for the very table that the catalogue knew at that place before.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ivm_core.catalog.model import TableRecord
from ivm_core.engine.log import TableLog
from ivm_core.engine.tables import TableInfo, named_places
from ivm_core.errors import IvmError
from ivm_core.maintain.keys import check_keys
from ivm_core.maintain.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMER = "ivm.former_places"  # of a record's properties: location → table id, as JSON
Keys = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]]


def record_table(session: Session, info: TableInfo, keys: Keys | None = None) -> TableRecord:
    """Register a base table as the session describes it, with the given keys, or those that it has.

    Raises UnknownColumnError where given keys name a column that it has not.
    """
    record = table_record(session, info, keys)
    if keys is not None:
        check_keys(record)
    session.catalog.upsert_table(record)
    return record


def table_record(session: Session, info: TableInfo, keys: Keys | None = None) -> TableRecord:
    """What would be registered."""
    known = session.catalog.table(info.name)
    keys = keys or ((known.primary_key, known.foreign_keys) if known else ((), ()))
    record = TableRecord(info.name, info.table_id, info.location, info.columns, *keys, properties=info.properties)
    return _remembering(record, known, session.spark_if_open)


def follow_tables(session: Session, names: Iterable[str], *, opening: bool = False) -> None:
    """Take base tables to be where the Spark session knows their names by now, and there is a Delta table.

    Sessions that are not open yet are not asked, but for tables that are missing, where ``opening`` one is allowed.
    """
    records = [record for record in map(session.catalog.table, names) if record is not None]
    spark = session.spark_if_open
    if spark is None and opening:
        records = [record for record in records if not session.has_table(record.location)]
        with suppress(IvmError):  # without a session they are missing, and only the views that read them fail
            spark = session.spark if records else None
    if spark is None or not records:
        return
    places = named_places(spark, [record.name for record in records])
    for record in records:
        place = places.get(record.name)
        if place is None or place.location == record.location or not TableLog.exists(place.location, spark):
            continue
        table_id = TableLog(place.location, spark).table_id()
        if not is_old(record, place.location, table_id):
            # Its columns stay those that views were made for: others are noticed as of any table that was made anew.
            moved = replace(record, location=place.location, table_id=table_id)
            session.catalog.upsert_table(_remembering(moved, record, spark))


def is_old(record: TableRecord, location: str, table_id: str) -> bool:
    """Whether the table is the one that the catalogue knew at that place before it was registered elsewhere."""
    return _former(record).get(location) == table_id


def _remembering(record: TableRecord, known: TableRecord | None, spark: SparkSession | None) -> TableRecord:
    """The record with the places where its table was."""
    former = _former(known) if known is not None else {}
    if known is not None and known.location != record.location:
        # The table may have been made anew in its place since it was registered: its name stands for what is there.
        there = TableLog.exists(known.location, spark)
        former[known.location] = TableLog(known.location, spark).table_id() if there else known.table_id
    former.pop(record.location, None)
    properties = {name: value for name, value in record.properties if name != FORMER}
    if former:
        properties[FORMER] = json.dumps(former, sort_keys=True)
    return replace(record, properties=tuple(sorted(properties.items())))


def _former(record: TableRecord) -> dict[str, str]:
    found: dict[str, str] = json.loads(dict(record.properties).get(FORMER, "{}"))
    return found
