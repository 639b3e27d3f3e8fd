"""What a piece of work cost: seconds, rows and bytes that it read, rows and bytes that its commits wrote."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow.parquet as pq

from ivm_core.engine.location import local_path
from ivm_core.engine.read_here import files_read_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Cost:
    """One measurement. What Spark reads is counted in its stages; None on Spark Connect, which does not tell.

    Of a file that the engine's own process opens all rows and bytes count, also where it needs few columns or parts of it.
    """

    seconds: float
    rows_read: int | None = None
    bytes_read: int | None = None
    rows_written: int | None = None
    bytes_written: int | None = None


def sum_of(costs: Sequence[Cost]) -> Cost:
    """What pieces of work cost together; a count that is known of none of them is not known."""
    counts = ("rows_read", "bytes_read", "rows_written", "bytes_written")
    return Cost(
        sum(cost.seconds for cost in costs), *(_known([getattr(cost, what) for cost in costs]) for what in counts)
    )


def _known(counts: Sequence[int | None]) -> int | None:
    """The sum of those that are known, None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class Meter:
    """Measures calls in one Spark session, one at a time."""

    def __init__(self, spark: SparkSession) -> None:
        context = getattr(spark, "_jsc", None)
        self._jvm: Any = spark.sparkContext._jsc.sc() if context is not None else None
        self._gateway: Any = spark.sparkContext._gateway if context is not None else None

    def measure(self, work: Callable[[], Answer], *locations: str) -> tuple[Answer, Cost]:
        """Do the work; ``locations`` are those of the tables that it writes to, on local paths."""
        last, before = self._last_stage(), [(location, newest_version(location)) for location in locations]
        started = time.monotonic()
        with files_read_here() as files:
            answer = work()
        seconds = time.monotonic() - started
        rows, size = self._read_since(last)
        if rows is not None and size is not None:
            rows, size = rows + sum(map(_rows_of, files)), size + sum(file.stat().st_size for file in files)
        written = [written_since(location, version) for location, version in before]
        return answer, Cost(
            seconds, rows, size, _known([rows for rows, _ in written]), _known([size for _, size in written])
        )

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


def _rows_of(file: Path) -> int:
    return int(pq.read_metadata(file).num_rows)


def newest_version(location: str) -> int:
    """The newest version whose commit lies in the log of a table on a local path; −1 where there is none."""
    return max((int(file.stem) for file in _commits(location)), default=-1)


def written_since(location: str, version: int) -> tuple[int | None, int | None]:
    """Rows and bytes of the files that commits after ``version`` added, change files included; None off local paths."""
    if local_path(location) is None:
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


def _commits(location: str) -> list[Path]:
    path = local_path(location)
    files = (path / "_delta_log").glob("*.json") if path is not None else ()
    return [file for file in files if file.stem.isdigit()]
