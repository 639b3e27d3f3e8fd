"""The clock among a batch's tables: its version is an instant, its table id the time zone that tells the date of it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ivm_core.batch.model import CommitClass, TableRange, TableVersion
from ivm_core.plan.clock import CLOCK, TODAY

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CLOCKS_DIFFER = timedelta(minutes=1)  # by so much at most, between machines


def version_of(instant: datetime) -> int:
    """The clock's version at an instant: microseconds since 1970 in UTC.

    >>> version_of(datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC))
    2000000
    """
    return (instant - _EPOCH) // _MICROSECOND


def instant_of(version: int) -> datetime:
    """The instant of one of the clock's versions, in UTC."""
    return _EPOCH + version * _MICROSECOND


def is_ahead(instant: datetime, now: datetime) -> bool:
    """Whether an instant is in the future: time never goes back, and views of the time would stand still until then."""
    return instant > now + _CLOCKS_DIFFER


def clock_range(read: Collection[str], start: TableVersion | None, version: int, zone: str | None) -> TableRange:
    """The clock from where a view stands to a version, never backwards; ``read``: the clock's columns that the view reads.

    ``zone``: the session's time zone; None: not known yet, then it is taken to be the one of before. In another zone
    every date may differ: the clock counts as replaced.
    """
    zone = zone or (start.table_id if start else "")
    if start is None or start.table_id != zone:
        return TableRange(CLOCK, zone, -1, max(start.version, version) if start else version, CommitClass.REPLACED)
    end = max(start.version, version)
    same = end < stale_at(read, start)
    return TableRange(CLOCK, zone, start.version, end, CommitClass.NOOP if same else CommitClass.MUTATING)


def stale_at(read: Collection[str], start: TableVersion) -> int:
    """The first version at which a column that is read may have another value: a microsecond later, or the next day."""
    if set(read) - {TODAY}:
        return start.version + 1
    try:
        zone = ZoneInfo(start.table_id)
    except (KeyError, ValueError, OSError):  # a zone that only Java knows, such as +01:00
        return start.version + 1
    return version_of(_midnight_after(instant_of(start.version).astimezone(zone).date(), zone))


def _midnight_after(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
