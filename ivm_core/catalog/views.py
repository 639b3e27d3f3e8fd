"""Queries on base tables and views; every function works inside the caller's transaction."""

from __future__ import annotations

import difflib

from sqlalchemy import Connection, Table, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from ivm_core.catalog import rows, tables
from ivm_core.catalog.model import IntentState, LifeStage, TableRecord, ViewRecord
from ivm_core.errors import UnknownViewError, ViewExistsError

LIVE = tables.views.c.status != LifeStage.DROPPED.value


def insert_into(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """The dialect's INSERT, which both have with ON CONFLICT."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def upsert_table(connection: Connection, record: TableRecord) -> None:
    row = rows.row_of(record)
    statement = insert_into(connection, tables.base_tables).values(row)
    connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=row))


def find_table(connection: Connection, name: str) -> TableRecord | None:
    statement = select(tables.base_tables).where(tables.base_tables.c.name == name)
    row = connection.execute(statement).mappings().first()
    return rows.to_table(row) if row else None


def list_tables(connection: Connection) -> tuple[TableRecord, ...]:
    found = connection.execute(select(tables.base_tables).order_by(tables.base_tables.c.name)).mappings()
    return tuple(rows.to_table(row) for row in found)


def find_view(connection: Connection, name: str) -> ViewRecord | None:
    """The live view of that name."""
    row = connection.execute(select(tables.views).where(tables.views.c.name == name, LIVE)).mappings().first()
    return rows.to_view(row) if row else None


def get_view(connection: Connection, name: str) -> ViewRecord:
    """The live view of that name; UnknownViewError tells the names most like it."""
    found = find_view(connection, name)
    if found is None:
        raise unknown_view(name, list_names(connection))
    return found


def unknown_view(name: str, names: tuple[str, ...]) -> UnknownViewError:
    same_view = [known for known in names if known.partition(".")[2] == name.rpartition(".")[2].lower()]
    close = difflib.get_close_matches(name.lower(), names, n=3) or same_view[:3]
    hint = f"did you mean {' or '.join(close)}?" if close else "see `ivm status` for those there are."
    return UnknownViewError(f"No view is registered as {name}: {hint}")


def get_newest_view_id(connection: Connection, name: str) -> str:
    """The id of the live view or, where there is none, of the one dropped last: its history can still be read."""
    views = tables.views
    dropped_last = (views.c.status == LifeStage.DROPPED.value, views.c.created_at.desc())
    ordered = select(views.c.view_id).where(views.c.name == name).order_by(*dropped_last)
    found: str | None = connection.execute(ordered).scalar()
    if found is None:
        raise unknown_view(name, list_names(connection))
    return found


def list_names(connection: Connection) -> tuple[str, ...]:
    return tuple(connection.execute(select(tables.views.c.name).where(LIVE).order_by(tables.views.c.name)).scalars())


def list_views(connection: Connection, group: str | None) -> tuple[ViewRecord, ...]:
    statement = select(tables.views).where(LIVE).order_by(tables.views.c.name)
    if group is not None:
        statement = statement.where(tables.views.c.group == group)
    return tuple(rows.to_view(row) for row in connection.execute(statement).mappings())


def add_view(connection: Connection, record: ViewRecord) -> ViewRecord:
    """Register a view; see ``Catalog.add_view``."""
    known = find_view(connection, record.name)
    if known is not None and known.sql == record.sql:
        return known
    if known is not None and known.status is LifeStage.CREATING:
        # Left by a build that failed: nothing was ever readable under the name.
        _drop(connection, known.view_id)
    elif known is not None:
        raise ViewExistsError(
            f"A view {record.name} with another definition is registered: run `ivm drop {record.name}` first, or "
            "choose another name."
        )
    try:
        connection.execute(tables.views.insert().values(rows.row_of(record)))
    except IntegrityError:
        raise ViewExistsError(
            f"Another process registered {record.name} at this moment: run the command again."
        ) from None
    return record


def update_view(connection: Connection, record: ViewRecord) -> None:
    # A drop, or the mark of a validation, may have come since the record was read: its stage is not written.
    values = {name: value for name, value in rows.row_of(record).items() if name != "status"}
    statement = update(tables.views).where(LIVE, tables.views.c.view_id == record.view_id).values(values)
    try:
        changed = connection.execute(statement).rowcount
    except IntegrityError:
        raise ViewExistsError(f"The name {record.name} belongs to another view: choose another.") from None
    if not changed:
        raise unknown_view(record.name, list_names(connection))


def mark_built(connection: Connection, view_id: str) -> None:
    views = tables.views
    begun = (views.c.view_id == view_id, views.c.status == LifeStage.CREATING.value)
    connection.execute(update(views).where(*begun).values(status=LifeStage.ACTIVE.value))


def list_dependants(connection: Connection, name: str) -> tuple[str, ...]:
    """The live views that read ``name`` directly."""
    found = connection.execute(
        select(tables.views.c.name, tables.views.c.tables).where(LIVE).order_by(tables.views.c.name)
    )
    return tuple(view for view, reads in found if name in reads)


def remove_view(connection: Connection, name: str) -> None:
    view = get_view(connection, name)
    dependants = [other for other in list_dependants(connection, name) if other != name]
    if dependants:
        raise ViewExistsError(f"{name} is read by {', '.join(dependants)}: drop these views first.")
    _drop(connection, view.view_id)


def _drop(connection: Connection, view_id: str) -> None:
    views, intents = tables.views, tables.intents
    connection.execute(update(views).where(views.c.view_id == view_id).values(status=LifeStage.DROPPED.value))
    still_open = (intents.c.view_id == view_id, intents.c.state == IntentState.OPEN.value)
    connection.execute(update(intents).where(*still_open).values(state=IntentState.ABANDONED.value))
