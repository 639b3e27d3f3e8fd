"""Predict the seconds of an incremental batch and of a full refresh from the view's own measured history.

A batch costs a fixed part (jobs, commits) and a part that grows with the changed rows. Measurements of sizes far enough
apart are fitted by least squares; otherwise the best recent one counts, scaled beyond a fixed part where the batch at
hand is much larger. Before, each is scaled to what the batch at hand opens and computes: changes of two tables make fewer
joins than changes of five. The best rather than the middle: a cold session makes batches slower, nothing makes them faster.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import linear_regression, median

from ivm_core.cost.statistics import PastBatch, Statistics

RECENT = 8
PART_SECONDS = 0.03  # for planning and starting one of a job's parts, however few rows it has
WORK_SHARE = 0.4  # of a batch: planning and running its parts, each about as long as another
BUILD_SHARE = 1.2  # of a first build, which shares its reading with the builds of other views
FIXED_SHARE = 0.7  # of a measured batch; the rest grows with its rows
FAR_APART = 4.0  # least ratio of the largest to the smallest measured size for a line through them to mean anything


def full_seconds(statistics: Statistics) -> float | None:
    """The middle of the last three refreshes; before there is one, of the first build what it takes in a run; else None."""
    full = [batch for batch in statistics.past if batch.full]
    if refreshes := [batch.seconds for batch in full if not batch.first_build][:3]:
        return median(refreshes)
    return full[0].seconds * BUILD_SHARE if full else None


def incremental_seconds(statistics: Statistics) -> float | None:
    """The predicted seconds of an incremental batch of this size, None without any measurement.

    >>> past = (PastBatch(False, 100, 1.0), PastBatch(False, 500, 3.0))
    >>> incremental_seconds(Statistics(past, changed_rows=300))
    2.0
    """
    measured = [_as_now(batch, statistics.work) for batch in statistics.past if not batch.full][:RECENT]
    if not measured:
        return None
    if statistics.changed_rows is None:
        return median(batch.seconds for batch in measured)
    sizes = [max(1.0, float(batch.changed_rows)) for batch in measured]
    if max(sizes) / min(sizes) >= FAR_APART:
        line = linear_regression(sizes, [batch.seconds for batch in measured])
        if line.slope >= 0:
            return max(line.intercept + line.slope * statistics.changed_rows, min(b.seconds for b in measured))
    return _proportional(measured, statistics.changed_rows)


def least_seconds(statistics: Statistics) -> float:
    """What the batch takes at least, by the number of its parts; for batches of a kind that was never measured."""
    return statistics.work * PART_SECONDS


def _as_now(batch: PastBatch, work: float) -> PastBatch:
    """The batch as if other tables had changed, whose pattern decides how many parts it has."""
    if work <= 0 or batch.work <= 0:
        return batch
    factor = (1 - WORK_SHARE) + WORK_SHARE * work / batch.work
    return replace(batch, seconds=batch.seconds * factor)


def _proportional(measured: list[PastBatch], changed_rows: int) -> float:
    seconds = min(batch.seconds for batch in measured[:3])
    size = median(batch.changed_rows for batch in measured)
    growth = max(1.0, changed_rows / size) if size else 1.0
    return seconds * (FIXED_SHARE + (1 - FIXED_SHARE) * growth)
