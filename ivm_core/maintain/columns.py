"""The columns of base tables that views read, and whether the tables still have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import BaseTableError, SchemaChangedError
from ivm_core.maintain.keys import columns_of
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing
from ivm_core.plan.nodes import Scan, walk


def columns_read(session: Session, views: Sequence[ViewRecord]) -> dict[str, tuple[str, ...]]:
    """The columns of each base table that any of the views reads: what one read of its changes must deliver.

    A view that can be read no more fails by itself: columns that are gone are not asked for.
    """
    columns: dict[str, set[str]] = {}
    for view in views:
        with suppress(SchemaChangedError):
            for table, names in _used(session, view).items():
                columns.setdefault(table, set()).update(names)
    return {table: tuple(sorted(_still_there(session, table, names))) for table, names in columns.items()}


def _used(session: Session, view: ViewRecord) -> dict[str, set[str]]:
    """The columns that the view reads of each table. Raises SchemaChangedError."""
    used: dict[str, set[str]] = {}
    for node in walk(session.compiled(view).plan):
        if isinstance(node, Scan):
            used.setdefault(node.table, set()).update(column.source for column in node.columns)
    return used


def _still_there(session: Session, table: str, names: Iterable[str]) -> list[str]:
    """Those of the names that are columns of the base table now; all where it is none, or cannot be read."""
    found = {name.lower() for name in names}
    if session.catalog.table(table) is not None:
        with suppress(BaseTableError):
            found = {name.lower() for name, _ in session.table_log(table).columns()}
    return [name for name in names if name.lower() in found]


def check_columns(session: Session, view: ViewRecord, now: Standing | None) -> None:
    """Raise SchemaChangedError where a column that the view uses is no longer there, or of another type."""
    change = column_change(session, view, now)
    if change is not None:
        raise SchemaChangedError(
            f"A column that {view.name} uses has changed: {change}. Nothing was written. Run `ivm apply`, which builds the "
            "view anew, with its query changed where a column is gone; or give the table the column back."
        )


def column_change(session: Session, view: ViewRecord, now: Standing | None) -> str | None:
    """What has become of the first column that the view can no longer read as where it stands; None where all is as it was.

    What the catalogue knows of a table counts where that version cannot be read any more: another view that was made since
    may have brought it up to date.
    """
    try:
        columns = _used(session, view)
    except SchemaChangedError:
        return "its query no longer compiles"
    for table, used in columns.items():
        record = session.catalog.table(table)
        if record is None:
            continue  # an upstream view: its columns are its definition's
        try:
            log = session.table_log(table)
            found = {name.lower(): type_ for name, type_ in log.columns()}
            stood = now.of(table) if now is not None else None
            same = stood is not None and stood.table_id == log.table_id()
            before = log.columns_at(stood.version) if stood is not None and same else None
        except BaseTableError:
            return None  # said elsewhere
        known = {name.lower(): type_ for name, type_ in before or columns_of(record)}
        for name in sorted(name.lower() for name in used):
            if name not in found:
                return f"{table}.{name} was dropped or renamed"
            if found[name] != known.get(name, found[name]):  # one that came since is none that the state was made with
                return f"{table}.{name} is {found[name]} now, no longer {known[name]}"
    return None
