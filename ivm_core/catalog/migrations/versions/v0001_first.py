"""The first schema: base tables, views, intents, batches, validations and cuts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Instant = sa.DateTime(timezone=True)
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "ivm_tables",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("table_id", sa.String, nullable=False),
        sa.Column("location", sa.String, nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("primary_key", sa.JSON, nullable=False),
        sa.Column("foreign_keys", sa.JSON, nullable=False),
        sa.Column("properties", sa.JSON, nullable=False),
    )
    op.create_table(
        "ivm_views",
        sa.Column("view_id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("sql", sa.Text, nullable=False),
        sa.Column("group", sa.String, nullable=False),
        sa.Column("schedule", sa.String),
        sa.Column("policy", sa.String, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("columns", sa.JSON, nullable=False),
        sa.Column("tables", sa.JSON, nullable=False),
        sa.Column("location", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("properties", sa.JSON, nullable=False),
    )
    _unique_where("ivm_views_live_name", "ivm_views", ["name"], "status <> 'dropped'")
    op.create_table(
        "ivm_intents",
        sa.Column("view_id", sa.String, sa.ForeignKey("ivm_views.view_id"), primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("batch", sa.JSON, nullable=False),
        sa.Column("strategy", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("run_id", sa.String),
    )
    _unique_where("ivm_intents_one_open", "ivm_intents", ["view_id"], "state = 'open'")
    op.create_table(
        "ivm_batches",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("view_id", sa.String, sa.ForeignKey("ivm_views.view_id"), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("succeeded", sa.Boolean, nullable=False),
        sa.Column("strategy", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("started_at", Instant, nullable=False),
        sa.Column("finished_at", Instant, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("from_versions", sa.JSON, nullable=False),
        sa.Column("to_versions", sa.JSON, nullable=False),
        sa.Column("rows_changed", sa.BigInteger, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("predicted_incremental_seconds", sa.Double),
        sa.Column("predicted_full_seconds", sa.Double),
        sa.Column("changed_rows", sa.JSON, nullable=False),
        sa.Column("state_rows", sa.BigInteger),
        sa.Column("error", sa.Text),
        sa.Column("run_id", sa.String),
        sa.Column("job", sa.Text),
    )
    op.create_index("ivm_batches_newest", "ivm_batches", ["view_id", "id"])
    op.create_index("ivm_batches_newest_success", "ivm_batches", ["view_id", "succeeded", "id"])
    applied = "succeeded AND number > 0 AND strategy <> 'noop'"
    _unique_where("ivm_batches_once", "ivm_batches", ["view_id", "number"], applied)
    op.create_table(
        "ivm_validations",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("view_id", sa.String, sa.ForeignKey("ivm_views.view_id"), nullable=False),
        sa.Column("batch_number", sa.BigInteger, nullable=False),
        sa.Column("ok", sa.Boolean, nullable=False),
        sa.Column("missing_count", sa.BigInteger, nullable=False),
        sa.Column("unexpected_count", sa.BigInteger, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("versions", sa.JSON, nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("checked_at", Instant, nullable=False),
        sa.Column("full_seconds", sa.Double),
        sa.Column("run_id", sa.String),
        sa.Column("sample", sa.Text, nullable=False),
    )
    op.create_index("ivm_validations_newest", "ivm_validations", ["view_id", "id"])
    op.create_table(
        "ivm_cuts",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("group", sa.String, nullable=False),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("as_of", Instant),
        sa.Column("versions", sa.JSON, nullable=False),
        sa.Column("created_at", Instant, nullable=False),
        sa.Column("states", sa.JSON, nullable=False),
        sa.Column("published_at", Instant),
    )
    op.create_index("ivm_cuts_run", "ivm_cuts", ["run_id", "group"], unique=True)
    op.create_index("ivm_cuts_newest", "ivm_cuts", ["group", "published_at"])


def _unique_where(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, unique=True, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    raise RuntimeError("A catalogue is not taken back to an older schema: restore a backup.")
