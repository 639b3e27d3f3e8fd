"""Whether the session plans its queries again after each stage: for queries over few rows that takes longer than they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ADAPTIVE = "spark.sql.adaptive.enabled"


class Planning:
    """Adaptive execution, switched as a run's queries need it; each switch is an answer of the session.

    Queries read their session's settings when they are planned, so the run's other queries follow the last switch.
    """

    def __init__(self, spark: Callable[[], SparkSession]) -> None:
        self._spark = spark
        self._before: str | None = None
        self._asked = False
        self._once = False

    def once(self, wanted: bool) -> None:
        """Plan the queries that follow once, or (not ``wanted``) as the session's owner has set it."""
        if wanted == self._once:
            return
        if not self._asked:
            self._before, self._asked = self._spark().conf.get(_ADAPTIVE, None), True
        self._once = wanted
        if self._before == "false":
            return
        if wanted:
            self._spark().conf.set(_ADAPTIVE, "false")
        elif self._before is None:
            self._spark().conf.unset(_ADAPTIVE)
        else:
            self._spark().conf.set(_ADAPTIVE, self._before)

    def close(self) -> None:
        """Leave the setting as it was found."""
        self.once(False)
        self._asked = False
