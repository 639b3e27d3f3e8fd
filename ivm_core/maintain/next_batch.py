"""The batch that brings a view from where it stands to a cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.batch.classify import range_class
from ivm_core.batch.clock import clock_range, version_of
from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import BaseTableError
from ivm_core.maintain.auxiliaries import as_auxiliaries_stand
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, shown_table, standing
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
        if start is None or start.table_id != target.table_id:
            ranges.append(TableRange(table, target.table_id, -1, target.version, CommitClass.REPLACED))
            continue
        end = max(start.version, target.version)
        commits = session.table_log(table).commits(start.version, end)
        kind = range_class(commits, start.version, end)
        ranges.append(TableRange(table, target.table_id, start.version, end, kind))
    return Batch(view.name, next_number(session, view, now), tuple(ranges), view.fingerprint)


def next_number(session: Session, view: ViewRecord, now: Standing | None) -> int:
    """One more than the catalogue and the view's own log know of."""
    return max(session.catalog.last_number(view.view_id), now.number if now else 0) + 1


def not_before(item: TableRange, now: Standing) -> TableRange:
    """The range starting where the view stands, where that is still the same table. A clock that was ahead comes back."""
    start = now.of(item.table)
    if start is None or start.table_id != item.table_id:
        return item
    least = min(start.version, version_of(datetime.now(UTC))) if item.table == CLOCK else start.version
    return replace(item, from_version=start.version, to_version=max(least, item.to_version))


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


def _target(session: Session, table: str, cut: Cut) -> TableVersion:
    found = cut.of(table)
    upstream = session.catalog.find_view(table)
    if upstream is not None:
        # The upstream view was brought to the cut just before: what counts is where it stands now.
        reached = standing(session, upstream)
        if reached is None:
            raise BaseTableError(f"The view {table} is not built yet. Run `ivm maintain {table}`.")
        return TableVersion(table, shown_table(session, upstream, reached.table_id), reached.state_version)
    log = session.base_log(table)
    if found is not None and found.table_id == log.table_id():
        return found
    # Of a table that was made anew since, a version of the one before says nothing.
    return TableVersion(table, log.table_id(), log.version())
