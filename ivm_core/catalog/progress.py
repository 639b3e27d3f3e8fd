"""Queries on intents and batches: which numbered batch means which data, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, func, select, true, update

from ivm_core.batch.model import Batch
from ivm_core.catalog import rows, tables
from ivm_core.catalog.model import BatchRecord, Intent, IntentState, LifeStage
from ivm_core.catalog.views import get_newest_view_id, insert_into, list_names, unknown_view
from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import CatalogError


def open_intent(
    connection: Connection,
    view_id: str,
    view: str,
    batch: Batch,
    strategy: Strategy,
    reason: Reason,
    run_id: str | None,
    committed: int,
) -> Intent:
    """Bind the next number to ``batch``, or return the open intent; see ``Catalog.open_intent``."""
    views, intents = tables.views, tables.intents
    # The row's lock lets one process at a time through here on PostgreSQL; on SQLite the whole transaction does.
    status = connection.execute(select(views.c.status).where(views.c.view_id == view_id).with_for_update()).scalar()
    if status is None or status == LifeStage.DROPPED:
        raise unknown_view(view, list_names(connection))
    already = list_open_intents(connection, {view_id: view})
    if already:
        return already[0]
    expected = max(last_number(connection, view_id), committed) + 1
    if batch.number != expected:
        raise CatalogError(
            f"Batch {batch.number} of {view} cannot begin, for the next one is {expected}: another run has taken the "
            "number since. Plan the batch again."
        )
    intent = Intent(view_id, view, batch.number, batch, strategy, reason, IntentState.OPEN, datetime.now(UTC), run_id)
    connection.execute(intents.insert().values(rows.row_of_intent(intent)))
    return intent


def last_number(connection: Connection, view_id: str) -> int:
    """The highest number ever bound, 0 where there is none."""
    intents = tables.intents
    return connection.execute(select(func.max(intents.c.number)).where(intents.c.view_id == view_id)).scalar() or 0


def list_open_intents(connection: Connection, names: Mapping[str, str]) -> tuple[Intent, ...]:
    """The open intents of the views ``names`` (id → name), by name."""
    intents = tables.intents
    statement = select(intents).where(intents.c.state == IntentState.OPEN.value)
    if len(names) == 1:
        statement = statement.where(intents.c.view_id == next(iter(names)))
    found = connection.execute(statement).mappings()
    known = (rows.to_intent(row, names[row["view_id"]]) for row in found if row["view_id"] in names)
    return tuple(sorted(known, key=lambda intent: intent.view))


def settle_intent(connection: Connection, view_id: str, number: int, state: IntentState) -> None:
    """Close an intent; closing it again the same way changes nothing."""
    intents = tables.intents
    this = (intents.c.view_id == view_id, intents.c.number == number)
    is_open = intents.c.state == IntentState.OPEN.value
    if connection.execute(update(intents).where(*this, is_open).values(state=state.value)).rowcount:
        return
    found = connection.execute(select(intents.c.state).where(*this)).scalar()
    if found != state:
        stands = f"is {found} already" if found else "was never begun"
        raise CatalogError(f"Batch {number} of view {view_id} cannot become {state}: it {stands}.")


def add_batch(connection: Connection, record: BatchRecord, settle: IntentState | None) -> None:
    """Record an attempt; see ``Catalog.add_batch``."""
    view_id = get_newest_view_id(connection, record.view)
    statement = insert_into(connection, tables.batches).values(rows.row_of_run(record, view_id))
    # Only a success can be there twice: its first record was written by the run that applied it.
    connection.execute(statement.on_conflict_do_nothing())
    if settle is not None:
        settle_intent(connection, view_id, record.number, settle)


def list_batches(connection: Connection, view: str, limit: int, succeeded: bool = False) -> tuple[BatchRecord, ...]:
    """The newest attempts first; with ``succeeded`` only those after which the view stood at their versions."""
    statement = _newest_first(connection, view)
    if succeeded:
        statement = statement.where(tables.batches.c.succeeded == true())
    found = connection.execute(statement.limit(limit)).mappings()
    return tuple(rows.to_batch_record(row, view) for row in found)


def list_measured(connection: Connection, view: str, batches: int, refreshes: int) -> tuple[BatchRecord, ...]:
    """The newest successes whose time was taken, newest first: so many incremental ones and so many full ones, however old."""
    table = tables.batches
    measured = _newest_first(connection, view).where(table.c.succeeded == true(), table.c.seconds > 0)

    def newest(limit: int, *strategies: Strategy) -> Iterable[RowMapping]:
        named = [str(strategy) for strategy in strategies]
        return connection.execute(measured.where(table.c.strategy.in_(named)).limit(limit)).mappings()

    found = [*newest(batches, Strategy.INCREMENTAL, Strategy.AFFECTED), *newest(refreshes, Strategy.FULL)]
    return tuple(rows.to_batch_record(row, view) for row in sorted(found, key=lambda row: row["id"], reverse=True))


def _newest_first(connection: Connection, view: str) -> Select[Any]:
    batches = tables.batches
    return (
        select(batches).where(batches.c.view_id == get_newest_view_id(connection, view)).order_by(batches.c.id.desc())
    )
