"""Runs migrations on the connection, and in the transaction, that ``migrate.py`` hands over."""

from alembic import context

from ivm_core.catalog.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    # SQLite alters a table by copying it.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
