"""A view for its one writer at a time: as it is registered now, and with the plan that its query has now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ivm_core.catalog.model import LifeStage, ViewRecord
from ivm_core.errors import Busy
from ivm_core.maintain.check import check_view
from ivm_core.maintain.columns import check_columns
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing
from ivm_core.plan.definition import parse_definition

LOCK_WAIT_SECONDS = 3600.0


@contextmanager
def locked(session: Session, view: ViewRecord) -> Iterator[ViewRecord]:
    """No other process maintains the view inside; yields its record as of now, whose query may be another than before.

    Raises Busy where one has it for an hour, UnknownViewError where the view was dropped.
    """
    with session.catalog.lock(view.name, LOCK_WAIT_SECONDS) as acquired:
        if not acquired:
            raise Busy(
                f"Another process has maintained {view.name} for {LOCK_WAIT_SECONDS:.0f} seconds. Nothing was changed; run "
                "again when it is done."
            )
        yield session.catalog.view(view.name)


def as_compiled(session: Session, view: ViewRecord, now: Standing | None) -> ViewRecord:
    """The view with the fingerprint and the columns of its query as it compiles now; registered so, where they are others.

    ``SELECT *`` and NATURAL JOIN mean other columns once a table has more of them, other keys of a table make another
    plan, and so may another version of this package. A state of the plan before is then computed anew (PLAN_CHANGED).
    Raises SchemaChangedError where a column that it uses is of another type than where it stands: ``ivm apply`` adopts that.
    """
    session.follow_columns(view)
    if session.compiled(view).fingerprint == view.fingerprint:
        return view
    if now is not None and now.fingerprint == view.fingerprint:
        check_columns(session, view, now)
    compiled, columns = check_view(session, parse_definition(view.sql))
    session.forget(view.view_id)  # perhaps it was this process that had compiled it before the others
    found = replace(view, fingerprint=compiled.fingerprint, tables=compiled.tables, columns=columns)
    if found != view:
        session.catalog.update_view(found)
    return found


def mark_built(session: Session, view: ViewRecord) -> None:
    """A view with a state is one like the others, also where its creation failed and a later run made up for it."""
    if view.status is LifeStage.CREATING:
        session.catalog.mark_built(view.view_id)
