"""Predict the seconds of an incremental batch and of a full refresh from the view's own measured history.

A batch costs a fixed part (planning, jobs, commits) and a part that grows with the changed rows: a line, fitted to the
recent batches by weighted least squares. Before enough sizes were measured its slope is a guess, so the fit is drawn towards
what most views take (ridge regression with a prior, as in Hoerl & Kennard 1970, about a mean that is not zero). Each
measurement is scaled first to what the batch at hand opens and computes: changes of two tables make fewer joins than
changes of five.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from ivm_core.cost.statistics import PastBatch, Statistics

RECENT = 8
PART_SECONDS = 0.03  # for planning and starting one of a job's parts, however few rows it has
WORK_SHARE = 0.4  # of a batch: planning and running its parts, each about as long as another
BUILD_SHARE = 1.0  # of a first build, which has a colder session, but shares its reading with the builds of other views
# A changed row takes so many times as long as a row of the tables in a full refresh: it is read, joined and merged alone.
ROW_FACTOR = 8.0
ROW_SECONDS = 2e-5  # for a changed row where the refresh or the size of the tables is not known
NOISE = 0.2  # usual relative error of a measured batch
DOUBT = 3.0  # relative error of the guessed slope
FORGOTTEN = 0.8  # weight of a measurement, of that of the next newer one


def full_seconds(statistics: Statistics) -> float | None:
    """The middle of the last three refreshes; before there is one, of the first build what it takes in a run; else None."""
    full = [batch for batch in statistics.past if batch.full]
    if refreshes := [batch.seconds for batch in full if not batch.first_build][:3]:
        return median(refreshes)
    return full[0].seconds * BUILD_SHARE if full else None


def incremental_seconds(statistics: Statistics) -> float | None:
    """The predicted seconds of an incremental batch of this size, None without any measurement.

    >>> past = tuple(PastBatch(False, rows, seconds) for rows, seconds in ((1_000_000, 31.0), (1_000, 1.0)) * 3)
    >>> round(incremental_seconds(Statistics(past, changed_rows=500_000)))
    16
    """
    measured = [_as_now(batch, statistics.work) for batch in statistics.past if not batch.full]
    # A commit without counts (RESTORE) leaves a batch of unknown size; where there are no others it must do.
    known = ([batch for batch in measured if batch.changed_rows] or measured)[:RECENT]
    if not known:
        return None
    if statistics.changed_rows is None:
        return median(batch.seconds for batch in known)
    fixed, slope = _line(known, row_seconds(statistics))
    return max(fixed + slope * statistics.changed_rows, min(batch.seconds for batch in known) / 2)


def row_seconds(statistics: Statistics) -> float:
    """What one more changed row takes, before batches of several sizes were measured."""
    full = full_seconds(statistics)
    return ROW_FACTOR * full / statistics.base_rows if full and statistics.base_rows else ROW_SECONDS


def least_seconds(statistics: Statistics) -> float:
    """What the batch takes at least, by the number of its parts; for batches of a kind that was never measured."""
    return statistics.work * PART_SECONDS


def _as_now(batch: PastBatch, work: float) -> PastBatch:
    """The batch as if other tables had changed, whose pattern decides how many parts it has."""
    if work <= 0 or batch.work <= 0:
        return batch
    factor = (1 - WORK_SHARE) + WORK_SHARE * work / batch.work
    return replace(batch, seconds=batch.seconds * factor)


def _line(measured: list[PastBatch], guess: float) -> tuple[float, float]:
    """Fixed seconds and seconds a row through the measurements, newest first, whose errors are relative to their seconds."""
    weights = [FORGOTTEN**age / (NOISE * max(batch.seconds, 1e-3)) ** 2 for age, batch in enumerate(measured)]
    total = sum(weights)
    rows = sum(w * batch.changed_rows for w, batch in zip(weights, measured, strict=True)) / total
    seconds = sum(w * batch.seconds for w, batch in zip(weights, measured, strict=True)) / total
    pairs = [
        (w, batch.changed_rows - rows, batch.seconds - seconds) for w, batch in zip(weights, measured, strict=True)
    ]
    prior = 1 / (DOUBT * guess) ** 2
    slope = (sum(w * x * y for w, x, y in pairs) + prior * guess) / (sum(w * x * x for w, x, _ in pairs) + prior)
    return seconds - max(0.0, slope) * rows, max(0.0, slope)
