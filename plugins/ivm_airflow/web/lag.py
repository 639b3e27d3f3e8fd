"""How far views are behind what they read, from listings of ``_delta_log`` and, where they are behind, its commits.

A listing is believed for ``TTL_SECONDS``; what a range of commits did never changes and is read once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

TTL_SECONDS = 10.0
RANGES = 5000  # remembered ranges of commits
CLOCK = "__ivm.clock"  # time is no table: nothing lists it


@dataclass(frozen=True, slots=True)
class Lag:
    """Behind by so many versions and rows of change, for so long. ``known`` False: a log could not be read.

    ``retention_left``: for how long the versions that the next batch needs can still be read, ``used`` the share of the
    retention that is gone; None where nothing is behind.
    """

    versions: int = 0
    rows: int = 0
    seconds: float = 0.0
    retention_left: float | None = None
    used: float | None = None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Missed:
    """The commits of a table that a view has not seen: their rows, the first one's time, the table's retention."""

    rows: int
    since: datetime | None
    retention_seconds: float


class LagReader:
    """Threads may share one: a race reads something twice, and nothing else."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._newest: dict[str, tuple[float, int | None]] = {}
        self._missed: dict[tuple[str, int, int], Missed | None] = {}

    def of(self, stands_at: Mapping[str, int], locations: Mapping[str, str]) -> Lag:
        """The lag of a view that stands at these versions by table name."""
        total = Lag()
        for table, version in stands_at.items():
            if table != CLOCK:
                total = _worse(total, self._of_table(locations.get(table), version))
        return total

    def behind(self, stands_at: Mapping[str, int], locations: Mapping[str, str]) -> int | None:
        """The versions of ``of``, from listings of local folders alone: cheap enough to put a whole list in order."""
        from ivm_core.engine.location import local_path

        places = ((locations.get(table), version) for table, version in stands_at.items())
        local = ((place, version) for place, version in places if place is not None and local_path(place) is not None)
        found = ((self._newest_version(place), version) for place, version in local)
        return max((max(newest - version, 0) for newest, version in found if newest is not None), default=None)

    def _of_table(self, location: str | None, version: int) -> Lag:
        newest = None if location is None else self._newest_version(location)
        if location is None or newest is None:
            return Lag(known=False)
        if version >= newest:
            return Lag()
        key = (location, version, newest)
        if key not in self._missed:
            if len(self._missed) >= RANGES:
                self._missed.clear()
            self._missed[key] = _read_missed(*key)
        missed = self._missed[key]
        if missed is None:
            return Lag(versions=newest - version, known=False)
        age = (datetime.now(UTC) - missed.since).total_seconds() if missed.since else 0.0
        left = max(0.0, missed.retention_seconds - age)
        used = age / missed.retention_seconds if missed.retention_seconds else 1.0
        return Lag(newest - version, missed.rows, age, left, used)

    def _newest_version(self, location: str) -> int | None:
        now = self._clock()
        known = self._newest.get(location)
        if known is None or known[0] < now:
            known = (now + TTL_SECONDS, read_newest_version(location))
            self._newest[location] = known
        return known[1]


def unreadable() -> tuple[type[Exception], ...]:
    """What reading a log may raise: one table's broken log must not take the page away."""
    from deltalake.exceptions import DeltaError

    from ivm_core.errors import IvmError

    return (IvmError, DeltaError, OSError, ValueError)


def read_newest_version(location: str) -> int | None:
    """The newest version at a location, None where there is no readable Delta table."""
    from ivm_core.engine.location import local_path
    from ivm_core.engine.log import TableLog

    path = local_path(location)
    if path is None:
        try:
            return TableLog(location).version()
        except unreadable():
            return None
    try:
        with os.scandir(path / "_delta_log") as entries:
            return max((version for entry in entries if (version := _version_of(entry.name)) is not None), default=None)
    except OSError:
        return None


def _version_of(name: str) -> int | None:
    stem, _, ending = name.partition(".")
    return int(stem) if ending == "json" and len(stem) == 20 and stem.isascii() and stem.isdigit() else None


def _read_missed(location: str, after: int, to: int) -> Missed | None:
    from ivm_core.batch.volume import changed_rows
    from ivm_core.engine.log import TableLog

    log = TableLog(location)
    try:
        commits = log.commits(after, to)
        retention = log.retention().total_seconds()
    except unreadable():
        return None
    return Missed(changed_rows(commits), commits[0].timestamp if commits else None, retention)


def _worse(one: Lag, other: Lag) -> Lag:
    lefts = [lag.retention_left for lag in (one, other) if lag.retention_left is not None]
    used = [lag.used for lag in (one, other) if lag.used is not None]
    return Lag(
        # Versions of different tables do not add up to anything: the table that is furthest ahead counts.
        max(one.versions, other.versions),
        one.rows + other.rows,
        max(one.seconds, other.seconds),
        min(lefts, default=None),
        max(used, default=None),
        one.known and other.known,
    )
