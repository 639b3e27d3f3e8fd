"""Trials of one view and one size of change as one point: medians, ratios with their spread, and what is known besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.measures import middle, spread
from bench.ways import AUTO, FULL, INCREMENTAL, WAYS, Trial

NOISE_SECONDS = 0.05  # a difference that no repetition shows again


@dataclass(frozen=True, slots=True)
class Point:
    """All trials of one view, scale, kind and size of change."""

    trials: tuple[Trial, ...]

    @property
    def view(self) -> str:
        return self.trials[0].view

    @property
    def percent(self) -> float:
        return self.trials[0].percent

    def seconds(self, way: str) -> float | None:
        """The median of a way's seconds."""
        return middle([trial.costs[way].seconds for trial in self.trials if way in trial.costs])

    def ratios(self, way: str) -> list[float]:
        """Full refresh over this way, one number a trial: both were measured on the same rows, right after each other."""
        return [t.costs[FULL].seconds / t.costs[way].seconds for t in self.trials if way in t.costs]

    def ratio(self, way: str = AUTO) -> float | None:
        """The median of the ratios."""
        return middle(self.ratios(way))

    @property
    def equal(self) -> bool:
        """Whether every trial ended with the rows of the query, in every way."""
        return all(trial.equal for trial in self.trials)

    @property
    def strategy(self) -> str:
        """What auto picked most often."""
        picked = Counter(trial.strategy for trial in self.trials if trial.strategy)
        return picked.most_common(1)[0][0] if picked else ""

    def entry(self) -> dict[str, Any]:
        """The point for JSON: figures are medians, lists are as measured."""
        first = self.trials[0]
        batch = INCREMENTAL if INCREMENTAL in first.costs or not first.costs else AUTO  # of all views in one run
        return {
            "view": first.view,
            "scale": first.scale,
            "change": first.change,
            "percent": first.percent,
            "strategy": self.strategy,
            "incremental_strategy": first.incremental_strategy,
            **{f"{way}_seconds": self.seconds(way) for way in WAYS},
            "ratio": self.ratio(),
            "ratio_spread": spread(self.ratios(AUTO)),
            "ratio_incremental": self.ratio(INCREMENTAL),
            "ratio_incremental_spread": spread(self.ratios(INCREMENTAL)),
            "rows_changed": middle([trial.rows_changed for trial in self.trials]),
            "view_rows_changed": middle([trial.view_rows_changed for trial in self.trials]),
            **{
                f"{what}{suffix}": middle([getattr(t.costs[way], what) for t in self.trials if way in t.costs])
                for way, suffix in ((batch, ""), (AUTO, "_auto"), (FULL, "_full"))
                for what in ("rows_read", "bytes_read", "rows_written", "bytes_written")
            },
            "samples": {way: [t.costs[way].seconds for t in self.trials if way in t.costs] for way in WAYS},
            "equal": self.equal,
            "errors": [trial.error for trial in self.trials if trial.error],
        }


def points_of(trials: Iterable[Trial]) -> tuple[Point, ...]:
    """The trials grouped by scale, change, percentage and view, in the order in which they first came."""
    groups: dict[tuple[float, str, float, str], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.scale, trial.change, trial.percent, trial.view), []).append(trial)
    return tuple(Point(tuple(group)) for group in groups.values())
