"""Numbers from repeated measurements: middle, spread, geometric mean, percentiles, slope, and where two ways break even."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import linear_regression, median


def middle(values: Sequence[float | None]) -> float | None:
    """The median of what was measured, None where nothing was.

    >>> middle([3.0, None, 1.0, 2.0])
    2.0
    """
    known = [value for value in values if value is not None]
    return median(known) if known else None


def spread(values: Sequence[float]) -> tuple[float, float] | None:
    """The smallest and the largest value, None where there is none."""
    return (min(values), max(values)) if values else None


def geometric_mean(values: Sequence[float | None]) -> float | None:
    """The geometric mean of the values above 0, None where there is none.

    >>> geometric_mean([2.0, 8.0, None])
    4.0
    """
    known = [math.log(value) for value in values if value is not None and value > 0]
    return math.exp(sum(known) / len(known)) if known else None


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of the values do not exceed.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 50), percentile([1.0, 2.0, 3.0, 4.0], 99)
    (2.0, 4.0)
    """
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def growth(values: Sequence[float]) -> float | None:
    """By which share of its start the line through the values grows from the first to the last; None below three values.

    >>> growth([1.0, 1.5, 2.0])
    1.0
    """
    if len(values) < 3:
        return None
    line = linear_regression(range(len(values)), values)
    return line.slope * (len(values) - 1) / line.intercept if line.intercept > 0 else None


def break_even(ratios: Mapping[float, float]) -> float | None:
    """The percentage of change at which a ratio (full seconds over a batch's) falls to 1; None where it never does.

    Between two measured percentages the line runs through their logarithms; the percentage 0 has none and is left out.
    A ratio that is below 1 from the start breaks even at the smallest percentage measured.

    >>> round(break_even({1.0: 4.0, 100.0: 0.25}), 3)
    10.0
    >>> break_even({0.1: 4.0, 1.0: 2.0}) is None
    True
    """
    known = [(percent, ratio) for percent, ratio in sorted(ratios.items()) if percent > 0 < ratio]
    if known and known[0][1] <= 1:
        return known[0][0]
    points = [(math.log(percent), math.log(ratio)) for percent, ratio in known]
    for (left, above), (right, below) in pairwise(points):
        if above > 0 >= below:
            return math.exp(left + (right - left) * above / (above - below))
    return None
