"""Where a view stood at or before an instant, and whether its table can still be brought back there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import cache

from ivm_core.batch.classify import range_class
from ivm_core.batch.clock import version_of
from ivm_core.batch.model import CommitClass, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import HistoryGone
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, is_spoilt, shown_table, standings
from ivm_core.plan.clock import CLOCK

NewestVersion = Callable[[str], TableVersion | None]  # of a base table, at the instant


def stood_before(session: Session, view: ViewRecord, instant: datetime) -> Standing:
    """The view's newest batch whose base tables, those of the views below it too, stood at or before the instant.

    Not the time of the commit counts but that of the data: a backfill commits today what was so last week. Raises
    HistoryGone where the view's table has no such batch of the view's present query, or none that can be read. Batches
    into which somebody else wrote are passed over: what replays from them would count as right from then on.
    """
    newest = _newest_versions(session, instant)
    log = session.log(view.location)
    for past in standings(session, view):
        if past.fingerprint != view.fingerprint or not _at_or_before(session, past, newest):
            continue
        if is_spoilt(session, view, past):
            continue
        if not log.is_readable(past.state_version):
            raise HistoryGone(
                f"Batch {past.number} of {view.name}, its newest at or before {_text(instant)}, is version "
                f"{past.state_version} of its table, and the oldest that can be read is {log.earliest_readable()}."
            )
        return past
    raise HistoryGone(f"The table of {view.name} has no batch at or before {_text(instant)} of its present query.")


def known_now(session: Session, past: Standing) -> Standing:
    """The same standing, in versions of upstream views that hold the same rows and come as late as possible.

    An upstream view that was itself brought back shows those rows in its newest versions: to replay from there, nothing
    that it did in between has to be read.
    """
    return replace(past, versions=tuple(_known_now(session, item) for item in past.versions))


def _known_now(session: Session, item: TableVersion) -> TableVersion:
    view = session.catalog.find_view(item.table)
    if view is None:
        return item
    log = session.log(view.location)
    for later in standings(session, view):
        if later.state_version <= item.version:
            return item
        if later.restored is not None:
            start, end = sorted((later.restored, item.version))
            # A commit that the log no longer tells of may have changed anything.
            if range_class(log.commits(start, end), start, end) is CommitClass.NOOP:
                return replace(item, version=later.state_version)
    return item


def _at_or_before(session: Session, past: Standing, newest: NewestVersion) -> bool:
    for item in past.versions:
        upstream = session.catalog.find_view(item.table)
        if upstream is not None:
            below = next(standings(session, upstream, item.version), None)
            same = below is not None and shown_table(session, upstream, below.table_id) == item.table_id
            if below is None or not same or not _at_or_before(session, below, newest):
                return False
            continue
        at = newest(item.table)
        if at is None or item.version > at.version or (item.table != CLOCK and item.table_id != at.table_id):
            return False
    return True


def _newest_versions(session: Session, instant: datetime) -> NewestVersion:
    @cache
    def newest(table: str) -> TableVersion | None:
        if table == CLOCK:
            return TableVersion(CLOCK, "", version_of(instant))
        if not session.has_table(session.location(table)):
            return None
        log = session.table_log(table)
        version = log.version_as_of(instant)
        return None if version is None else TableVersion(table, log.table_id(), version)

    return newest


def _text(instant: datetime) -> str:
    return instant.isoformat(sep=" ", timespec="seconds")
