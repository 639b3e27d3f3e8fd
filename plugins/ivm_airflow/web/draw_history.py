"""Batches and runs as bar charts, such as seconds by batch: the oldest on the left."""

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
    return draw_bars(
        [(batch.seconds, _kind(batch), _title(batch)) for batch in batches],
        " s",
        full_seconds,
        f"full refresh {words.seconds(full_seconds)}",
    )


def draw_bars(
    values: Sequence[tuple[float, str, str]], unit: str, level: float | None = None, level_text: str = ""
) -> HistoryPicture:
    """A bar each of ``(value, kind, title)``, the last of them on the left; ``level`` is a line across."""
    longest = max([value for value, _, _ in values] + [level or 0.0], default=0.0)
    step = _step(longest)
    top = max(longest, step)
    scale = (HEIGHT - TOP - BOTTOM) / top
    floor = HEIGHT - BOTTOM
    room = (WIDTH - LEFT) / max(len(values), 1)
    width = min(WIDEST, room * 0.72)
    bars = []
    for place, (value, kind, title) in enumerate(reversed(values)):
        height = max(value * scale, 2.0)
        bars.append(Bar(LEFT + place * room + 4, floor - height, width, height, kind, title))
    ticks = tuple((floor - number * step * scale, _tick(number * step) + unit) for number in range(int(top / step) + 1))
    return HistoryPicture(tuple(bars), ticks, None if level is None else floor - level * scale, level_text)


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


def _tick(value: float) -> str:
    """A mark's number, short enough for the margin.

    >>> _tick(0.05), _tick(2000.0), _tick(20_000.0), _tick(1.5e6)
    ('0.05', '2000', '20 k', '1.5 M')
    """
    if value < 1e4:
        return f"{value:g}"
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k"


def _step(longest: float) -> float:
    """The smallest of 1, 2, 5, 10, … (or their tenths) that divides the scale into at most TICKS parts."""
    sizes = (size * 10.0**power for power in range(-3, 7) for size in (1, 2, 5))
    return next((size for size in sizes if longest / size <= TICKS), longest or 1.0)
