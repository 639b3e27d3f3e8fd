"""The batches of a view as a bar chart: seconds by batch, the oldest on the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ivm_airflow.web import words

if TYPE_CHECKING:
    from ivm_core.catalog.model import BatchRecord

WIDTH = 880
HEIGHT = 190
LEFT = 52
TOP = 14
BOTTOM = 22
WIDEST = 26.0
TICKS = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """A batch; ``kind``: ``delta``, ``full`` or ``failed``."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class HistoryPicture:
    """Bars on a scale of seconds. ``full_y``: the height of a measured full refresh, None where there is none."""

    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]
    full_y: float | None
    full_text: str
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def draw_history(batches: Sequence[BatchRecord], full_seconds: float | None) -> HistoryPicture:
    """The chart of ``batches`` (newest first) beside the seconds of a full refresh."""
    longest = max([batch.seconds for batch in batches] + [full_seconds or 0.0], default=0.0)
    step = _step(longest)
    top = max(longest, step)
    scale = (HEIGHT - TOP - BOTTOM) / top
    floor = HEIGHT - BOTTOM
    room = (WIDTH - LEFT) / max(len(batches), 1)
    width = min(WIDEST, room * 0.72)
    bars = []
    for place, batch in enumerate(reversed(batches)):
        height = max(batch.seconds * scale, 2.0)
        bars.append(Bar(LEFT + place * room + 4, floor - height, width, height, _kind(batch), _title(batch)))
    ticks = tuple((floor - number * step * scale, f"{number * step:g} s") for number in range(int(top / step) + 1))
    return HistoryPicture(
        tuple(bars),
        ticks,
        None if full_seconds is None else floor - full_seconds * scale,
        f"full refresh {words.seconds(full_seconds)}",
    )


def _kind(batch: BatchRecord) -> str:
    if batch.error:
        return "failed"
    return "full" if batch.strategy == "full" else "delta"


def _title(batch: BatchRecord) -> str:
    end = f"failed: {batch.error}" if batch.error else f"{words.count(batch.rows_changed)} rows changed"
    return (
        f"batch {batch.number}, {words.moment(batch.finished_at)} UTC, {batch.strategy}, "
        f"{words.seconds(batch.seconds)}, {end}"
    )


def _step(longest: float) -> float:
    """The smallest of 1, 2, 5, 10, … (or their tenths) that divides the scale into at most TICKS parts."""
    sizes = (size * 10.0**power for power in range(-3, 7) for size in (1, 2, 5))
    return next((size for size in sizes if longest / size <= TICKS), longest or 1.0)
