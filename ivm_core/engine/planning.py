"""Whether the session plans its queries again after each stage: for queries over few rows that takes longer than they do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ADAPTIVE = "spark.sql.adaptive.enabled"


class Planning:
    """Adaptive execution, switched as a run's queries need it; each switch is an answer of the session.

    Queries read their session's settings when they are planned, so the run's other queries follow the last switch: of
    views that are maintained at the same time, one that needs the owner's setting decides for all.
    """

    def __init__(self, spark: Callable[[], SparkSession]) -> None:
        self._spark = spark
        self._switching = threading.Lock()
        self._before: str | None = None
        self._asked = False
        self._once = False
        self._adaptive = 0  # views that need the owner's setting now

    @contextmanager
    def once(self, wanted: bool) -> Iterator[None]:
        """Inside, plan queries once where no other view needs otherwise, or (not ``wanted``) as the session's owner does."""
        with self._switching:
            self._adaptive += not wanted
            self._switch(once=not self._adaptive)
        try:
            yield
        finally:
            # The next view's queries may want the same: what is set stays.
            with self._switching:
                self._adaptive -= not wanted

    def close(self) -> None:
        """Leave the setting as it was found."""
        with self._switching:
            self._switch(once=False)
            self._asked = False

    def _switch(self, *, once: bool) -> None:
        if once == self._once:
            return
        if not self._asked:
            self._before, self._asked = self._spark().conf.get(_ADAPTIVE, None), True
        self._once = once
        if self._before == "false":
            return
        if once:
            self._spark().conf.set(_ADAPTIVE, "false")
        elif self._before is None:
            self._spark().conf.unset(_ADAPTIVE)
        else:
            self._spark().conf.set(_ADAPTIVE, self._before)
