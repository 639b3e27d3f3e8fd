"""The columns of base tables that views read, and whether the tables still have them."""

from __future__ import annotations

from collections.abc import Sequence

from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import BaseTableError, SchemaChangedError
from ivm_core.maintain.session import Session
from ivm_core.plan.nodes import Scan, walk


def columns_read(session: Session, views: Sequence[ViewRecord]) -> dict[str, tuple[str, ...]]:
    """The columns of each base table that any of the views reads: what one read of its changes must deliver."""
    columns: dict[str, set[str]] = {}
    for view in views:
        for node in walk(session.compiled(view).plan):
            if isinstance(node, Scan):
                columns.setdefault(node.table, set()).update(column.source for column in node.columns)
    return {table: tuple(sorted(names)) for table, names in columns.items()}


def check_columns(session: Session, view: ViewRecord) -> None:
    """Raise SchemaChangedError where a column that the view uses is no longer there, or of another type."""
    change = column_change(session, view)
    if change is not None:
        raise SchemaChangedError(
            f"A column that {view.name} uses has changed: {change}. Nothing was written. Run `ivm apply`, which builds the "
            "view anew, with its query changed where a column is gone; or give the table the column back."
        )


def column_change(session: Session, view: ViewRecord) -> str | None:
    """What has become of the first column that the view can no longer read as when it was made; None where all is as it was."""
    for table, used in columns_read(session, [view]).items():
        record = session.catalog.table(table)
        if record is None:
            continue  # an upstream view: its columns are its definition's
        known = {name.lower(): type_ for name, type_ in record.columns}
        try:
            now = {name.lower(): type_ for name, type_ in session.table_log(table).columns()}
        except BaseTableError:
            return None  # said elsewhere
        for name in sorted(name.lower() for name in used):
            if name not in now:
                return f"{table}.{name} was dropped or renamed"
            if now[name] != known.get(name):
                return f"{table}.{name} is {now[name]} now, no longer {known.get(name)}"
    return None
