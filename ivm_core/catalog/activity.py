"""What ``status`` shows of all views, in a fixed number of statements however many views there are."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from sqlalchemy import Connection, RowMapping, Table, select, true

from ivm_core.catalog import rows, tables
from ivm_core.catalog.model import BatchRecord, ValidationRecord, ViewActivity
from ivm_core.catalog.progress import list_open_intents
from ivm_core.catalog.views import LIVE, list_views

Record = TypeVar("Record", BatchRecord, ValidationRecord)


def list_activity(connection: Connection, names: Collection[str] | None, group: str | None) -> tuple[ViewActivity, ...]:
    """The live views by name, each with its newest batch, attempt, validation and open intent."""
    views = [view for view in list_views(connection, group) if names is None or view.name in names]
    known = {view.view_id: view.name for view in views}
    successes = _newest(connection, tables.batches, rows.to_batch_record, known, succeeded=True)
    attempts = _newest(connection, tables.batches, rows.to_batch_record, known)
    validations = _newest(connection, tables.validations, rows.to_validation, known)
    intents = {intent.view: intent for intent in list_open_intents(connection, known)} if known else {}
    return tuple(
        ViewActivity(
            view,
            successes.get(view.name),
            attempts.get(view.name),
            validations.get(view.name),
            intents.get(view.name),
        )
        for view in views
    )


def _newest(
    connection: Connection,
    table: Table,
    to_record: Callable[[RowMapping, str], Record],
    names: dict[str, str],
    succeeded: bool = False,
) -> dict[str, Record]:
    """By view name, the row with the highest id: one look into the index a view, not a pass over the history."""
    inner = table.alias()
    newest = select(inner.c.id).where(inner.c.view_id == tables.views.c.view_id).order_by(inner.c.id.desc()).limit(1)
    if succeeded:
        newest = newest.where(inner.c.succeeded == true())
    shown = [column for column in table.c if column.name != "job"]  # long, and nothing for a list
    joined = tables.views.join(table, table.c.id == newest.correlate(tables.views).scalar_subquery())
    found = connection.execute(select(*shown).select_from(joined).where(LIVE)).mappings()
    by_name = ((names.get(row["view_id"]), row) for row in found)
    return {name: to_record(row, name) for name, row in by_name if name is not None}
