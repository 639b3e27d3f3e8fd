"""A view's log is gone through from its newest commit on, without reading more of it than is asked for."""

from __future__ import annotations

from itertools import islice

import pytest

from ivm_core.maintain.standing import WINDOW, _newest_first


class Log:
    """Hands out versions for commits, and notes how many were asked for at a time."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def commits(self, after: int, to: int) -> tuple[int, ...]:
        self.asked.append(to - after)
        return tuple(range(after + 1, to + 1))


@pytest.mark.parametrize("newest", [0, 1, 4, 5, 20, 21, 22, 70, 71, 72, 200])
def test_each_commit_comes_once_newest_first(newest):
    log = Log()
    assert [*_newest_first(log, newest)] == [*range(newest, -1, -1)]
    assert max(log.asked) <= WINDOW


@pytest.mark.parametrize(("wanted", "read"), [(1, 1), (2, 5), (5, 5), (6, 21), (22, 71)])
def test_no_more_are_read_than_a_few_times_what_is_wanted(wanted, read):
    log = Log()
    assert [*islice(_newest_first(log, 999), wanted)] == [*range(999, 999 - wanted, -1)]
    assert sum(log.asked) == read
