"""The tables, as the newest migration leaves them. All names begin with ``ivm_``: a database may be shared."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.types import TypeDecorator

VERSION_TABLE = "ivm_catalog_version"


class Utc(TypeDecorator[datetime]):
    """An instant: refuses a time without zone, gives back UTC (SQLite stores no zone)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without zone: {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Frozen(TypeDecorator[Any]):
    """JSON whose arrays come back as tuples."""

    impl = JSON
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return _freeze(value)


def _freeze(value: Any) -> Any:
    return tuple(_freeze(item) for item in value) if isinstance(value, list) else value


# SQLite numbers rows by itself only in a column of type INTEGER.
RowId = BigInteger().with_variant(Integer(), "sqlite")
LIVE = text("status <> 'dropped'")
OPEN = text("state = 'open'")
# Runs that needed no batch share the number 0, a failed attempt its successor's.
APPLIED = text("succeeded AND number > 0 AND strategy <> 'noop'")

metadata = MetaData()

base_tables = Table(
    "ivm_tables",
    metadata,
    Column("name", String, primary_key=True),
    Column("table_id", String, nullable=False),
    Column("location", String, nullable=False),
    Column("columns", Frozen, nullable=False),
    Column("primary_key", Frozen, nullable=False),
    Column("foreign_keys", Frozen, nullable=False),
    Column("properties", Frozen, nullable=False),
)

views = Table(
    "ivm_views",
    metadata,
    Column("view_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("sql", Text, nullable=False),
    Column("group", String, nullable=False),
    Column("schedule", String),
    Column("policy", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("columns", Frozen, nullable=False),
    Column("tables", Frozen, nullable=False),
    Column("location", String, nullable=False),
    Column("status", String, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("comment", Text, nullable=False),
    Column("properties", Frozen, nullable=False),
    Index("ivm_views_live_name", "name", unique=True, sqlite_where=LIVE, postgresql_where=LIVE),
)


def _view_id(**options: Any) -> Column[str]:
    return Column("view_id", String, ForeignKey("ivm_views.view_id"), nullable=False, **options)


intents = Table(
    "ivm_intents",
    metadata,
    _view_id(primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("batch", Frozen, nullable=False),
    Column("strategy", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("run_id", String),
    Index("ivm_intents_one_open", "view_id", unique=True, sqlite_where=OPEN, postgresql_where=OPEN),
)

batches = Table(
    "ivm_batches",
    metadata,
    Column("id", RowId, primary_key=True),
    _view_id(),
    Column("number", BigInteger, nullable=False),
    Column("succeeded", Boolean, nullable=False),
    Column("strategy", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("started_at", Utc, nullable=False),
    Column("finished_at", Utc, nullable=False),
    Column("detail", Text, nullable=False),
    Column("from_versions", Frozen, nullable=False),
    Column("to_versions", Frozen, nullable=False),
    Column("rows_changed", BigInteger, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("predicted_incremental_seconds", Double),
    Column("predicted_full_seconds", Double),
    Column("changed_rows", Frozen, nullable=False),
    Column("state_rows", BigInteger),
    Column("error", Text),
    Column("run_id", String),
    Column("job", Text),
    Index("ivm_batches_newest", "view_id", "id"),
    Index("ivm_batches_newest_success", "view_id", "succeeded", "id"),
    Index("ivm_batches_once", "view_id", "number", unique=True, sqlite_where=APPLIED, postgresql_where=APPLIED),
)

validations = Table(
    "ivm_validations",
    metadata,
    Column("id", RowId, primary_key=True),
    _view_id(),
    Column("batch_number", BigInteger, nullable=False),
    Column("ok", Boolean, nullable=False),
    Column("missing_count", BigInteger, nullable=False),
    Column("unexpected_count", BigInteger, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("versions", Frozen, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("checked_at", Utc, nullable=False),
    Column("full_seconds", Double),
    Column("run_id", String),
    Column("sample", Text, nullable=False),
    Index("ivm_validations_newest", "view_id", "id"),
)

cuts = Table(
    "ivm_cuts",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("group", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("as_of", Utc),
    Column("versions", Frozen, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("states", Frozen, nullable=False),
    Column("published_at", Utc),
    Index("ivm_cuts_run", "run_id", "group", unique=True),
    Index("ivm_cuts_newest", "group", "published_at"),
)
