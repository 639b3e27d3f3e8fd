"""Lines through points as coordinates for SVG: a round scale for each axis, logarithmic where asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bench.bench_result import Line, Lines

WIDTH, HEIGHT = 860, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 14, 46
COLOURS = {"delta": "var(--delta)", "full": "var(--full)"}


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as SVG's ``points``, its colour and its dots."""

    name: str
    colour: str
    points: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines and the texts of the axes at their positions; ``level`` is a horizontal mark's position, if any."""

    lines: tuple[DrawnLine, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    x_label: str
    y_label: str
    level: float | None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def place(self, value: float) -> float:
        low, high, at = (math.log10(v) if self.logarithmic else v for v in (self.low, self.high, value))
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)


def draw_lines(chart: Lines) -> LineChart:
    """The chart of lines; one without points has none."""
    drawn = [line for line in chart.lines if line.points]
    xs = sorted({x for line in drawn for x, _ in line.points}) or [1.0]
    ys = [y for line in drawn for _, y in line.points] or [1.0]
    logarithmic = chart.logarithmic and xs[0] > 0
    across = _Axis(xs[0], xs[-1], LEFT, WIDTH - RIGHT, logarithmic)
    top = max([*ys, chart.level or 0.0]) or 1.0
    least = min([*ys, *([] if chart.level is None else [chart.level])])
    powers = chart.logarithmic_up and least > 0
    up = _Axis(least / 1.1 if powers else 0.0, top * 1.05, HEIGHT - BOTTOM, TOP, powers)
    return LineChart(
        tuple(_drawn(line, place, across, up) for place, line in enumerate(drawn)),
        tuple((across.place(x), f"{x:g}") for x in (xs if len(xs) <= 10 else _round_numbers(xs[0], xs[-1]))),
        tuple((up.place(y), f"{y:g}") for y in (_powers(up.low, top) if powers else _round_numbers(0.0, top))),
        chart.x_label,
        chart.y_label,
        None if chart.level is None else up.place(chart.level),
    )


def _drawn(line: Line, position: int, across: _Axis, up: _Axis) -> DrawnLine:
    dots = tuple((round(across.place(x), 1), round(up.place(y), 1)) for x, y in line.points)
    # Hues a golden angle apart stay different however many lines there are.
    colour = COLOURS.get(line.kind) or f"hsl({position * 137.5 % 360:.0f} 60% 50%)"
    return DrawnLine(line.name, colour, " ".join(f"{x},{y}" for x, y in dots), dots if len(dots) <= 60 else ())


def _round_numbers(low: float, high: float) -> tuple[float, ...]:
    """At most six round numbers from low to high."""
    span = (high - low) or 1.0
    step = next(size * 10.0**power for power in range(-6, 9) for size in (1, 2, 5) if span / (size * 10.0**power) <= 5)
    first = math.ceil(low / step)
    return tuple(round((first + index) * step, 10) for index in range(int((high - first * step) / step) + 1))


def _powers(low: float, high: float) -> tuple[float, ...]:
    """The ones, twos and fives of each power of ten from low to high."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = (round(size * 10.0**power, 10) for power in powers for size in (1, 2, 5))
    return tuple(number for number in numbers if low <= number <= high)
