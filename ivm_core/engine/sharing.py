"""What views that are maintained at the same time share in one process, and how they keep out of each other's way."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ThreadSeconds(threading.local):
    """Seconds that the asking thread has spent on something."""

    def __init__(self) -> None:
        self.spent = 0.0


class Commits:
    """Who may commit through a Spark session now.

    A MERGE finds its tag in the session's settings, where any other commit of the session would find it too: it runs
    alone. Commits that carry their tag with them run beside each other.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._carrying = 0
        self._alone = False

    @contextmanager
    def beside_others(self) -> Iterator[None]:
        """For a commit that changes no setting of the session."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._carrying += 1
        try:
            yield
        finally:
            with self._changed:
                self._carrying -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """For a commit by the session's settings. It waits for those that have begun, and later ones wait for it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: not self._carrying)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()


COMMITS = Commits()  # of this process, which has one Spark session
