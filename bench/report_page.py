"""The demo's page: one HTML file with charts drawn as SVG, for light and dark screens, that loads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.results import DemoResult, ViewResult

if TYPE_CHECKING:
    from jinja2 import Environment

CHART_WIDTH = 860
LABEL_WIDTH = 236
RATIO_WIDTH = 110
VALUE_WIDTH = 64  # room for the number after the longest bar
BAR_HEIGHT = 13
ROW_HEIGHT = 42
AXIS_HEIGHT = 26

# What the stored reasons mean, for those who have not read the manual.
MEANINGS = {
    "no_changes": "no table that it reads has changes",
    "already_current": "it was there already",
    "linear": "every operator has a rule for weighted changes",
    "affected_keys": "the groups that changes touch are computed anew",
    "cheaper": "a full refresh was predicted to be cheaper",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and the text after it. ``kind`` picks its colour: ``delta`` or ``full``."""

    y: float
    width: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A labelled group of bars; ``note`` stands at the right edge, ``good`` None leaves it neutral."""

    label: str
    y: float
    bars: tuple[Bar, ...]
    note: str = ""
    good: bool | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows on a common scale of seconds; ``ticks`` are positions with their texts."""

    rows: tuple[ChartRow, ...]
    ticks: tuple[tuple[float, str], ...]
    height: float
    width: int = CHART_WIDTH
    left: int = LABEL_WIDTH


def templates() -> Environment:
    """The templates of ``bench/templates``; every value is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("bench", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(result: DemoResult) -> str:
    """The page as text; every value is escaped by the template engine."""
    environment = templates()
    environment.filters["seconds"] = seconds
    environment.filters["count"] = count
    environment.filters["times"] = times
    environment.filters["meaning"] = meaning
    return environment.get_template("demo.html").render(
        result=result, views=chart_views(result), rounds=chart_rounds(result), bar_height=BAR_HEIGHT
    )


def chart_views(result: DemoResult) -> Chart:
    """Per view: the last round's batch above the full refresh, the largest gain first."""
    ordered = sorted(result.views, key=lambda view: -(view.ratio or 0.0))
    longest = max((max(view.seconds, view.full_seconds or 0.0) for view in ordered), default=0.0)
    scale = _scale(longest)
    rows = []
    for position, view in enumerate(ordered):
        top = position * ROW_HEIGHT + 6
        bars = [Bar(top, view.seconds * scale, "delta", seconds(view.seconds))]
        if view.full_seconds is not None:
            bars.append(Bar(top + BAR_HEIGHT + 2, view.full_seconds * scale, "full", seconds(view.full_seconds)))
        # Where a full refresh was chosen, the two bars are the same work done twice: no gain to speak of.
        same = view.batches[-1].strategy == "full"
        note = "full chosen" if same else _gain(view.ratio)
        good = None if same or view.ratio is None else view.ratio >= 1
        rows.append(ChartRow(view.name, top, tuple(bars), note, good, _hint(view)))
    return Chart(tuple(rows), _ticks(longest, scale), len(rows) * ROW_HEIGHT + AXIS_HEIGHT)


def chart_rounds(result: DemoResult) -> Chart:
    """All views together: each round's batches, and full refreshes of all."""
    entries = [
        (f"{entry.name} {entry.title}", "delta", spent)
        for entry, spent in zip(result.rounds, result.incremental_seconds, strict=True)
    ]
    if result.full_seconds is not None:
        entries.append(("Full refresh of all", "full", result.full_seconds))
    longest = max((spent for _, _, spent in entries), default=0.0)
    scale = _scale(longest)
    height = 30
    rows = []
    for position, (label, kind, spent) in enumerate(entries):
        top = position * height + 6
        gain = (
            result.full_seconds / spent if result.full_seconds is not None and spent > 0 and kind == "delta" else None
        )
        rows.append(
            ChartRow(
                label,
                top,
                (Bar(top, spent * scale, kind, seconds(spent)),),
                _gain(gain),
                None if gain is None else gain >= 1,
            )
        )
    return Chart(tuple(rows), _ticks(longest, scale), len(rows) * height + AXIS_HEIGHT)


def bar_chart(groups: Sequence[tuple[str, Sequence[tuple[str, float]], float | None]]) -> Chart:
    """Labelled groups of bars, each bar a kind and seconds; the ratio, if any, is said at the edge."""
    longest = max((spent for _, bars, _ in groups for _, spent in bars), default=0.0)
    scale = _scale(longest)
    rows = []
    for position, (label, bars, ratio) in enumerate(groups):
        top = position * ROW_HEIGHT + 6
        drawn = tuple(
            Bar(top + place * (BAR_HEIGHT + 2), spent * scale, kind, seconds(spent))
            for place, (kind, spent) in enumerate(bars)
        )
        rows.append(ChartRow(label, top, drawn, _gain(ratio), None if ratio is None else ratio >= 1))
    return Chart(tuple(rows), _ticks(longest, scale), len(rows) * ROW_HEIGHT + AXIS_HEIGHT)


def seconds(value: float | None) -> str:
    """0.04 s, 1.2 s, 38 s, 3 min 20 s; a dash for None."""
    if value is None:
        return "–"
    if value < 60:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s" if value < 20 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def count(value: float | None) -> str:
    """1 234 567 with thin spaces, of a median too; a dash for None."""
    return "–" if value is None else f"{int(value):,}".replace(",", "\u202f")


def times(value: float | None) -> str:
    """5.2×, 31×; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.1f}×" if value < 9.95 else f"{value:.0f}×"


def span(values: Sequence[float]) -> str:
    """Factors from the least to the most."""
    return " – ".join(map(times, values))


def meaning(reason: str) -> str:
    """A stored reason as a sentence's part."""
    return MEANINGS.get(reason, reason.replace("_", " "))


def _gain(ratio: float | None) -> str:
    if ratio is None:
        return ""
    if times(max(ratio, 1 / ratio)) == times(1.0):
        return "as fast"
    return f"{times(ratio)} faster" if ratio >= 1 else f"{times(1 / ratio)} slower"


def _hint(view: ViewResult) -> str:
    last = view.batches[-1]
    return f"{view.view}: {last.strategy}, as {meaning(last.reason)}, {count(last.rows_changed)} rows changed"


def _scale(longest: float) -> float:
    """Pixels a second."""
    return (CHART_WIDTH - LABEL_WIDTH - RATIO_WIDTH - VALUE_WIDTH) / longest if longest > 0 else 0.0


def _ticks(longest: float, scale: float) -> tuple[tuple[float, str], ...]:
    """At most five round numbers from 0 to the longest."""
    if longest <= 0:
        return ((0.0, "0 s"),)
    step = next(
        size * 10.0**power for power in range(-3, 6) for size in (1, 2, 5) if longest / (size * 10.0**power) <= 5
    )
    return tuple((index * step * scale, f"{index * step:g} s") for index in range(int(longest / step) + 1))
