"""What views that are maintained at the same time share in one process, and how they keep out of each other's way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class ThreadSeconds(threading.local):
    """Seconds that the asking thread has spent on something."""

    def __init__(self) -> None:
        self.spent = 0.0


class WorkClock:
    """What a thread's work takes of this process's time: while n views are at work, a second counts 1/n to each.

    So the seconds of views that are maintained side by side add up to those of the run, and can be compared with the
    seconds of a view that had the machine to itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._charged: dict[int, float] = {}
        self._until = 0.0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """The asking thread works on a view."""
        with self._lock:
            self._charge()
            self._charged[threading.get_ident()] = 0.0
        try:
            yield
        finally:
            with self._lock:
                self._charge()
                del self._charged[threading.get_ident()]

    def now(self) -> float:
        """Seconds charged to the asking thread since some moment; of a thread that is alone, those of the clock."""
        with self._lock:
            if threading.get_ident() not in self._charged:
                return time.monotonic()
            self._charge()
            return self._charged[threading.get_ident()]

    def _charge(self) -> None:
        passed, self._until = time.monotonic() - self._until, time.monotonic()
        for thread in self._charged:
            self._charged[thread] += passed / len(self._charged)


WORK_CLOCK = WorkClock()  # of this process
