"""The clock's range in a batch: what counts as a change of time."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ivm_core.batch.clock import clock_range, instant_of, version_of
from ivm_core.batch.model import CommitClass, TableRange, TableVersion
from ivm_core.plan.clock import CLOCK

MADRID, UNKNOWN = "Europe/Madrid", "+01:00"


def at(text: str) -> int:
    return version_of(datetime.fromisoformat(text).replace(tzinfo=UTC))


# In Madrid summer time begins on 29 March 2026: the night of the 28th ends at 23:00 UTC, that of the 29th at 22:00.
@pytest.mark.parametrize(
    ("read", "zone", "start", "end", "moved"),
    [
        ({"today"}, "UTC", "2026-03-28 00:00", "2026-03-28 23:59", False),
        ({"today"}, "UTC", "2026-03-28 23:59", "2026-03-29 00:00", True),
        ({"today"}, MADRID, "2026-03-27 23:00", "2026-03-28 22:59", False),
        ({"today"}, MADRID, "2026-03-28 22:59", "2026-03-28 23:00", True),
        ({"today"}, MADRID, "2026-03-28 23:00", "2026-03-29 21:59", False),
        ({"today"}, MADRID, "2026-03-28 23:00", "2026-03-29 22:00", True),
        ({"today"}, UNKNOWN, "2026-03-28 10:00", "2026-03-28 10:00", False),
        ({"today"}, UNKNOWN, "2026-03-28 10:00", "2026-03-28 10:01", True),
        ({"now"}, "UTC", "2026-03-28 10:00", "2026-03-28 10:00", False),
        ({"now", "today"}, "UTC", "2026-03-28 10:00", "2026-03-28 10:01", True),
        ({"local"}, MADRID, "2026-03-28 10:00", "2026-03-28 10:01", True),
    ],
)
def test_time_moves_when_a_column_that_is_read_does(read, zone, start, end, moved):
    found = clock_range(read, TableVersion(CLOCK, zone, at(start)), at(end), zone)
    kind = CommitClass.MUTATING if moved else CommitClass.NOOP
    assert found == TableRange(CLOCK, zone, at(start), at(end), kind)
    assert found.empty is not moved


def test_time_never_goes_back():
    stands = TableVersion(CLOCK, "UTC", at("2026-03-28 10:00"))
    found = clock_range({"now"}, stands, at("2026-03-01 00:00"), "UTC")
    assert found.empty
    assert (found.from_version, found.to_version) == (stands.version, stands.version)


def test_another_time_zone_is_another_clock_and_an_unknown_one_the_same():
    stands = TableVersion(CLOCK, MADRID, at("2026-03-28 10:00"))
    assert clock_range({"today"}, stands, stands.version, "UTC").from_version == -1
    assert clock_range({"today"}, stands, stands.version, None).table_id == MADRID
    assert clock_range({"today"}, None, stands.version, "UTC").kind is CommitClass.REPLACED


def test_versions_are_instants():
    instant = datetime(2026, 11, 22, 18, 0, 0, 123456, tzinfo=UTC)
    assert instant_of(version_of(instant)) == instant
