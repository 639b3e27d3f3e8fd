"""Create and drop views: definition → plan, checked against Spark's own analysis, built as batch 1."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.apply.model import MaintenanceReport
from ivm_core.catalog.model import LifeStage, TableRecord, ViewRecord
from ivm_core.cost.model import Reason
from ivm_core.engine.tables import describe_table, drop_state, is_view, put_table, table_exists
from ivm_core.errors import BaseTableError, Busy, DefinitionError, InvalidNameError, ViewExistsError
from ivm_core.maintain.auxiliaries import auxiliaries_of, check_properties, is_auxiliary
from ivm_core.maintain.check import check_view, check_whole, is_registered
from ivm_core.maintain.current import locked
from ivm_core.maintain.group import make_cut
from ivm_core.maintain.places import follow_tables, record_table
from ivm_core.maintain.session import Session
from ivm_core.maintain.view import build, maintain_view
from ivm_core.plan.definition import ViewDefinition, parse_definition
from ivm_core.plan.names import qualified


def create_view(session: Session, sql: str, run_id: str | None = None, owner: str | None = None) -> ViewRecord:
    """Register a view and build it. The same definition again changes nothing; a killed creation is finished.

    ``owner``: the view of whose query it keeps a part.
    Raises DefinitionError (and below) for what is wrong with the statement, ViewExistsError where the name is taken.
    """
    definition = parse_definition(sql)
    check_properties(definition, owner)
    existing = session.catalog.find_view(definition.name)
    if existing is not None and existing.status != "creating":
        if existing.sql.strip() == sql.strip() or definition.if_not_exists:
            return existing
        raise ViewExistsError(
            f"The view {definition.name} exists with another definition. Drop it first, or change its file and run `ivm apply`."
        )
    check_free(session, definition.name)
    if definition.auxiliaries:
        check_whole(session, definition)
        if existing is not None and existing.sql.strip() != sql.strip():
            _give_up(session, existing)
            existing = None
    with _auxiliaries_created(session, definition, run_id):
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
        status=LifeStage.CREATING,
        comment=definition.comment,
        properties=definition.properties,
        created_at=datetime.now(UTC),
    )
    if existing is None:
        record = replace(record, columns=columns, location=state_location(session, record))
        record = session.catalog.add_view(record)  # another process may have begun the same
    bring_together(session, record, run_id)
    build(session, record, Reason.FIRST_BUILD, run_id)
    record = session.catalog.view(record.name)
    session.show(record)
    return record


@contextmanager
def _auxiliaries_created(session: Session, definition: ViewDefinition, run_id: str | None) -> Iterator[None]:
    """The definition's auxiliary views are there inside; those that were made for it go where it then proves wrong."""
    created: list[ViewRecord] = []
    try:
        for auxiliary in definition.auxiliaries:
            known = session.catalog.find_view(auxiliary.name)
            if known is not None and is_auxiliary(known, definition.name) and not is_registered(session, auxiliary):
                drop_view(session, known.name)  # of another query of a view that was never built
            record = create_view(session, auxiliary.sql, run_id, definition.name)
            if known is None:
                created.append(record)
        yield
    except DefinitionError:
        for record in reversed(created):
            _remove(session, record)
        raise


def bring_together(session: Session, view: ViewRecord, run_id: str | None = None) -> None:
    """Bring a view's auxiliaries to one version of every table, the newest: it has all columns that the view reads now."""
    if auxiliaries := auxiliaries_of(session, view):
        cut = make_cut(session, (*auxiliaries, view))
        for auxiliary in auxiliaries:
            maintain_view(session, auxiliary, cut, run_id=run_id)


def _give_up(session: Session, begun: ViewRecord) -> None:
    """Forget a creation of another query that failed or was killed, with what it has written. Raises Busy where it goes on."""
    with locked(session, begun) as found:
        if (found.view_id, found.status) != (begun.view_id, LifeStage.CREATING):
            raise Busy(f"Another process created {begun.name} in this very moment. Run again.")
        _remove(session, found)


def check_free(session: Session, name: str) -> None:
    """Raise InvalidNameError where a table has the name, be it known to the catalogue or to Spark alone."""
    if session.catalog.table(name) is not None:
        raise InvalidNameError(f"{name} is the name of a base table. Choose another name.")
    spark = session.spark_with_names
    if table_exists(spark, name) and not is_view(spark, name):
        raise InvalidNameError(f"{name} is the name of a table in the Spark session. Choose another name.")


def register_base_table(
    session: Session,
    name: str,
    location: str | None = None,
    primary_key: tuple[str, ...] = (),
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (),
) -> TableRecord:
    """Tell the catalogue of a Delta table, with its declared keys. ``location``: where the session does not know it there."""
    name = qualified(name)
    if location is not None:
        if not session.has_table(location):
            raise BaseTableError(f"{name} cannot be registered: there is no Delta table at {location}. Write it first.")
        put_table(session.spark_with_names, name, location)
    return record_table(session, describe_table(session.spark_with_names, name), (primary_key, foreign_keys))


def drop_view(session: Session, name: str) -> None:
    """Remove a view with its auxiliaries, their states and their history. Raises ViewExistsError while other views read it."""
    record = session.catalog.view(name)
    dependants = session.catalog.dependants(record.name)
    if dependants:
        raise ViewExistsError(f"{record.name} is read by {', '.join(dependants)}. Drop them first.")
    auxiliaries = auxiliaries_of(session, record)
    _remove(session, record)
    for auxiliary in reversed(auxiliaries):
        if not session.catalog.dependants(auxiliary.name):  # others may read it by now, and keep it
            _remove(session, auxiliary)


def _remove(session: Session, record: ViewRecord) -> None:
    spark = session.spark  # without one, nothing goes
    # Whoever dies in between leaves files that nobody asks for, and no view without its files.
    session.catalog.remove_view(record.name)
    drop_state(spark, record.name, record.location)
    session.forget(record.view_id)


def refresh_view(session: Session, name: str, run_id: str | None = None) -> MaintenanceReport:
    """Build a view anew from the newest versions, its auxiliaries first."""
    view = session.catalog.view(name)
    auxiliaries = auxiliaries_of(session, view)
    follow_tables(session, {table for one in (*auxiliaries, view) for table in one.tables}, opening=True)
    for auxiliary in auxiliaries:
        build(session, auxiliary, Reason.REQUESTED, run_id)
    bring_together(session, view, run_id)
    return build(session, view, Reason.REQUESTED, run_id)


def state_location(session: Session, record: ViewRecord) -> str:
    """The folder of a view's state, below ``views``; the view's id makes it unique."""
    return f"{session.settings.warehouse.rstrip('/')}/views/{record.name.replace('.', '/')}-{record.view_id[:8]}"
