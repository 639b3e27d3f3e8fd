"""Create and drop views: definition → plan, checked against Spark's own analysis, built as batch 1."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.apply.model import MaintenanceReport
from ivm_core.catalog.model import TableRecord, ViewRecord, ViewStatus
from ivm_core.cost.model import Reason
from ivm_core.engine.tables import describe_table, drop_state, register_table
from ivm_core.errors import Busy, InvalidNameError, ViewExistsError
from ivm_core.maintain.check import check_view
from ivm_core.maintain.current import locked
from ivm_core.maintain.session import Session
from ivm_core.maintain.view import build
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.names import qualified


def create_view(session: Session, sql: str, run_id: str | None = None) -> ViewRecord:
    """Register a view and build it. The same definition again changes nothing; a killed creation is finished.

    Raises DefinitionError (and below) for what is wrong with the statement, ViewExistsError where the name is taken.
    """
    definition = parse_definition(sql)
    existing = session.catalog.find_view(definition.name)
    if existing is not None and existing.status != "creating":
        if existing.sql.strip() == sql.strip() or definition.if_not_exists:
            return existing
        raise ViewExistsError(
            f"The view {definition.name} exists with another definition. Drop it first, or change its file and run `ivm apply`."
        )
    check_free(session, definition.name)
    compiled, columns = check_view(session, definition)
    if existing is not None and (existing.sql.strip(), existing.fingerprint) != (sql.strip(), compiled.fingerprint):
        _give_up(session, existing)
        existing = None
    record = existing or ViewRecord(
        view_id=str(uuid.uuid4()),
        name=definition.name,
        sql=sql,
        group=definition.group,
        schedule=definition.schedule,
        policy=definition.policy,
        fingerprint=compiled.fingerprint,
        columns=(),
        tables=compiled.tables,
        location="",
        status=ViewStatus.CREATING,
        comment=definition.comment,
        properties=definition.properties,
        created_at=datetime.now(UTC),
    )
    if existing is None:
        record = replace(record, columns=columns, location=state_location(session, record))
        session.catalog.add_view(record)
    build(session, record, Reason.FIRST_BUILD, run_id)
    record = replace(record, status=ViewStatus.ACTIVE)
    session.catalog.update_view(record)
    session.show(record)
    return record


def _give_up(session: Session, begun: ViewRecord) -> None:
    """Forget a creation of another query that failed or was killed, with what it has written. Raises Busy where it goes on."""
    with locked(session, begun) as found:
        if (found.view_id, found.status) != (begun.view_id, ViewStatus.CREATING):
            raise Busy(f"Another process created {begun.name} in this very moment. Run again.")
        _remove(session, found)


def check_free(session: Session, name: str) -> None:
    """Raise InvalidNameError where a base table has the name."""
    if session.catalog.table(name) is not None:
        raise InvalidNameError(f"{name} is the name of a base table. Choose another name.")


def register_base_table(
    session: Session,
    name: str,
    location: str | None = None,
    primary_key: tuple[str, ...] = (),
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (),
) -> TableRecord:
    """Tell the catalogue of a Delta table, with its declared keys. ``location``: where the session does not know it."""
    name = qualified(name)
    if location is not None:
        register_table(session.spark_with_names, name, location)
    info = describe_table(session.spark_with_names, name)
    record = TableRecord(
        name, info.table_id, info.location, info.columns, primary_key, foreign_keys, properties=info.properties
    )
    session.catalog.upsert_table(record)
    return record


def drop_view(session: Session, name: str) -> None:
    """Remove a view, its state and its history. Raises ViewExistsError while other views read it."""
    record = session.catalog.view(name)
    dependants = session.catalog.dependants(record.name)
    if dependants:
        raise ViewExistsError(f"{record.name} is read by {', '.join(dependants)}. Drop them first.")
    _remove(session, record)


def _remove(session: Session, record: ViewRecord) -> None:
    drop_state(session.spark, record.name, record.location)
    session.catalog.remove_view(record.name)
    session.forget(record.view_id)


def refresh_view(session: Session, name: str, run_id: str | None = None) -> MaintenanceReport:
    """Build a view anew from the newest versions."""
    return build(session, session.catalog.view(name), Reason.REQUESTED, run_id)


def state_location(session: Session, record: ViewRecord) -> str:
    """The folder of a view's state, below ``views``; the view's id makes it unique."""
    return f"{session.settings.warehouse.rstrip('/')}/views/{record.name.replace('.', '/')}-{record.view_id[:8]}"
