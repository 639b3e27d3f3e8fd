"""What a piece of work cost: seconds, rows and bytes that Spark read, rows and bytes that its commit wrote."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ivm_core.engine.location import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Cost:
    """One measurement. What Spark reads is counted in its stages; None on Spark Connect, which does not tell.

    Rows that the engine reads in its own process, from change files and states of few rows, are not among ``rows_read``.
    """

    seconds: float
    rows_read: int | None = None
    bytes_read: int | None = None
    rows_written: int | None = None
    bytes_written: int | None = None


class Meter:
    """Measures calls in one Spark session, one at a time."""

    def __init__(self, spark: SparkSession) -> None:
        context = getattr(spark, "_jsc", None)
        self._jvm: Any = spark.sparkContext._jsc.sc() if context is not None else None
        self._gateway: Any = spark.sparkContext._gateway if context is not None else None

    def measure(self, work: Callable[[], Answer], location: str | None = None) -> tuple[Answer, Cost]:
        """Do the work; ``location`` is the table that it writes to, on a local path."""
        last, before = self._last_stage(), newest_version(location)
        started = time.monotonic()
        answer = work()
        seconds = time.monotonic() - started
        rows, size = self._read_since(last)
        rows_written, bytes_written = written_since(location, before)
        return answer, Cost(seconds, rows, size, rows_written, bytes_written)

    def collect_garbage(self) -> None:
        """Let no measurement pay for what the one before left in memory, of this process and its JVM."""
        gc.collect()
        if self._gateway is not None:
            self._gateway.jvm.System.gc()

    def _last_stage(self) -> int:
        return next((int(stage.stageId()) for stage in self._stages()), -1)

    def _read_since(self, last: int) -> tuple[int | None, int | None]:
        if self._jvm is None:
            return None, None
        stages = list(takewhile(lambda stage: stage.stageId() > last, self._stages()))
        return sum(stage.inputRecords() for stage in stages), sum(stage.inputBytes() for stage in stages)

    def _stages(self) -> Iterator[Any]:
        """Spark's finished and running stages, newest first; each costs a call into the JVM."""
        if self._jvm is None:
            return
        self._jvm.listenerBus().waitUntilEmpty()
        none = self._gateway.new_array(self._gateway.jvm.double, 0)
        stages = self._jvm.statusStore().stageList(None, False, False, none, None)
        yield from (stages.apply(place) for place in range(stages.size()))


def newest_version(location: str | None) -> int:
    """The newest version whose commit lies in the log of a table on a local path; −1 where there is none."""
    return max((int(file.stem) for file in _commits(location)), default=-1)


def written_since(location: str | None, version: int) -> tuple[int | None, int | None]:
    """Rows and bytes of the files that commits after ``version`` added, change files included; None without a log."""
    if location is None or local_path(location) is None:
        return None, None
    rows = size = 0
    for file in _commits(location):
        if int(file.stem) <= version:
            continue
        for line in file.read_text("utf-8").splitlines():
            action = json.loads(line)
            added = action.get("add") or action.get("cdc")
            if added:
                size += int(added["size"])
                rows += int(json.loads(added.get("stats") or "{}").get("numRecords", 0))
    return rows, size


def _commits(location: str | None) -> list[Path]:
    path = local_path(location) if location is not None else None
    files = (path / "_delta_log").glob("*.json") if path is not None else ()
    return [file for file in files if file.stem.isdigit()]
