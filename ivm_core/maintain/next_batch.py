"""The batch that brings a view from where it stands to a cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.batch.classify import range_class
from ivm_core.batch.clock import clock_range, version_of
from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import BaseTableError, Busy, SchemaChangedError
from ivm_core.maintain.auxiliaries import as_auxiliaries_stand
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, newest_version, shown_table, standing
from ivm_core.plan.clock import CLOCK, clock_columns


def next_batch(session: Session, view: ViewRecord, now: Standing | None, cut: Cut) -> Batch:
    """The ranges from where the view stands to the cut; never backwards.

    Raises BaseTableError for a missing table, Busy where the view's auxiliaries are being moved.
    """
    cut = as_auxiliaries_stand(session, view, cut)
    ranges = []
    for table in view.tables:
        if table == CLOCK:
            ranges.append(_clock_range(session, view, now, cut))
            continue
        target = _target(session, table, cut)
        start = now.of(table) if now is not None else None
        if start is None or start.table_id != target.table_id or _is_gone(session, start, target.version):
            ranges.append(TableRange(table, target.table_id, -1, target.version, CommitClass.REPLACED))
            continue
        end = max(start.version, target.version)
        commits = session.table_log(table).commits(start.version, end)
        kind = range_class(commits, start.version, end)
        ranges.append(TableRange(table, target.table_id, start.version, end, kind))
    return Batch(view.name, next_number(session, view, now), tuple(ranges), view.fingerprint)


def has_arrived(session: Session, view: ViewRecord, now: Standing, batch: Batch) -> bool:
    """True where the batch would change nothing, and the state is what this definition's batches left.

    Raises SchemaChangedError where the definition does not compile any more.
    """
    if batch.changed or now.touched or any(item.from_version < 0 for item in batch.ranges):
        return False
    # What the query means may have changed without a row: by a column that came, or another version of this package.
    return now.fingerprint == view.fingerprint == session.compiled(view).fingerprint


def needs_batch(session: Session, view: ViewRecord, cut: Cut) -> bool:
    """Whether a run to the cut has work, or a failure, to report; upstream views as they stand. Needs no JVM on local paths."""
    try:
        now = standing(session, view)
        if now is None or session.catalog.open_intents(view.name):
            return True
        return not has_arrived(session, view, now, next_batch(session, view, now, cut))
    except (Busy, BaseTableError, SchemaChangedError):
        return True  # its auxiliaries are on their way, or a table or a column is missing, or its own log is unreadable


def begins_at(batch: Batch, now: Standing | None) -> bool:
    """Whether the batch begins where the view stands: from elsewhere it would add rows twice, or leave some out.

    A process that lost its lock, and commits all the same, moves a view between another one's plan and its batch.
    """
    stood = {item.table: (item.table_id, item.version) for item in (now.versions if now is not None else ())}
    return all(stood.get(item.table) == (item.table_id, item.from_version) for item in batch.ranges)


def next_number(session: Session, view: ViewRecord, now: Standing | None) -> int:
    """One more than the catalogue and the view's own log know of."""
    return max(session.catalog.last_number(view.view_id), committed_number(session, view, now)) + 1


def committed_number(session: Session, view: ViewRecord, now: Standing | None) -> int:
    """The number of the newest batch that the view's own table holds, also where its log no longer holds that commit."""
    if now is not None:
        return now.number
    number = session.log(view.location).transaction_version(view.view_id) if session.has_table(view.location) else None
    return number or 0


def not_before(session: Session, item: TableRange, now: Standing) -> TableRange:
    """The range starting where the view stands, where that is still the same table. A clock that was ahead comes back."""
    start = now.of(item.table)
    if start is None or start.table_id != item.table_id or _is_gone(session, start, item.to_version):
        return item
    least = min(start.version, version_of(datetime.now(UTC))) if item.table == CLOCK else start.version
    return replace(item, from_version=start.version, to_version=max(least, item.to_version))


def still_readable(session: Session, cut: Cut) -> Cut:
    """The cut without the tables that cannot be read any more as they were then."""

    def is_readable(item: TableVersion) -> bool:
        try:
            return item.table == CLOCK or session.table_log(item.table).is_readable(item.version)
        except BaseTableError:
            return True  # said elsewhere

    return replace(cut, versions=tuple(item for item in cut.versions if is_readable(item)))


def same_tables(session: Session, batch: Batch) -> bool:
    """Whether the batch's ranges are of the tables that have these names now."""
    return replaced_table(session, batch.ranges) is None


def replaced_table(session: Session, stood: Iterable[TableVersion | TableRange]) -> str | None:
    """The first of the tables whose name another one has now, or a view below that shows its rows otherwise."""
    tables = (item for item in stood if item.table != CLOCK)
    return next((t.table for t in tables if _target(session, t.table, Cut(())).table_id != t.table_id), None)


def _clock_range(session: Session, view: ViewRecord, now: Standing | None, cut: Cut) -> TableRange:
    """The clock from where the view stands to the cut's instant, which is now where it has none."""
    target = cut.of(CLOCK)
    version = target.version if target is not None else version_of(cut.as_of or datetime.now(UTC))
    read = {column.source for column in clock_columns(session.compiled(view).plan)}
    return clock_range(read, now.of(CLOCK) if now is not None else None, version, session.time_zone)


def _is_gone(session: Session, start: TableVersion, target: int) -> bool:
    """Whether the table has no such version any more: an older copy of its files came in their place."""
    if start.table == CLOCK or target >= start.version:
        return False
    return session.log(session.location(start.table)).version() < start.version


def _target(session: Session, table: str, cut: Cut) -> TableVersion:
    found = cut.of(table)
    upstream = session.catalog.find_view(table)
    if upstream is not None:
        # The upstream view was brought to the cut just before: what counts is where it stands now.
        reached = standing(session, upstream)
        if reached is None:
            raise BaseTableError(f"The view {table} is not built yet. Run `ivm maintain {table}`.")
        return TableVersion(table, shown_table(session, upstream, reached.table_id), reached.state_version)
    newest = newest_version(session, table)
    if found is not None and found.table_id == newest.table_id and found.version <= newest.version:
        return found
    return (
        newest  # of a table that was made anew since, or put back by a copy, a version of the one before says nothing
    )
