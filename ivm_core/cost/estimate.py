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
FIXED_SECONDS = 0.3  # of a batch without rows, beside its parts
PART_SECONDS = 0.03  # for planning and starting one of a job's parts, however few rows it has
WORK_SHARE = 0.4  # of a batch: planning and running its parts, each about as long as another
# A changed row takes so many times as long as a row of the tables in a full refresh: it is read, joined and merged alone.
ROW_FACTOR = 10.0
OF_BUILDING = 0.6  # what a refresh takes of what building took, which met a cold session
ROW_SECONDS = 2e-5  # for a changed row where the refresh or the size of the tables is not known
NOISE = 0.2  # usual relative error of a measured batch
# Of what is guessed: the error of the fixed part, as a share of the longest measured batch, and the relative one of the slope.
FIXED_DOUBT, ROW_DOUBT = 1.0, 3.0
FORGOTTEN = 0.7  # weight of a measurement, of that of the next newer one


def full_seconds(statistics: Statistics) -> float | None:
    """The middle of the last three refreshes; before there is one, what the first build took; else None."""
    full = [batch for batch in statistics.past if batch.full]
    if refreshes := [batch.seconds for batch in full if not batch.first_build][:3]:
        return median(refreshes)
    return full[0].seconds if full else None


def is_only_built(statistics: Statistics) -> bool:
    """Whether no refresh was measured, so that only building the view tells what one takes."""
    return all(batch.first_build for batch in statistics.past if batch.full)


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
    fixed, slope = _line(known, FIXED_SECONDS + least_seconds(statistics), row_seconds(statistics))
    return max(fixed, 0.0) + slope * statistics.changed_rows


def row_seconds(statistics: Statistics) -> float:
    """What one more changed row takes, before batches of several sizes were measured."""
    full = full_seconds(statistics)
    if not full or not statistics.base_rows:
        return ROW_SECONDS
    return ROW_FACTOR * full * (OF_BUILDING if is_only_built(statistics) else 1.0) / statistics.base_rows


def least_seconds(statistics: Statistics) -> float:
    """What the batch takes at least, by the number of its parts; for batches of a kind that was never measured."""
    return statistics.work * PART_SECONDS


def _as_now(batch: PastBatch, work: float) -> PastBatch:
    """The batch as if other tables had changed, whose pattern decides how many parts it has."""
    if work <= 0 or batch.work <= 0:
        return batch
    factor = (1 - WORK_SHARE) + WORK_SHARE * work / batch.work
    return replace(batch, seconds=batch.seconds * factor)


def _line(measured: list[PastBatch], fixed: float, slope: float) -> tuple[float, float]:
    """Fixed seconds and seconds a row through the measurements, newest first, drawn towards the two that are guessed.

    The errors of measurements are relative to their seconds. The guesses count as two measurements more: of a batch without
    rows, and of the slope alone.
    """
    points = [
        (FORGOTTEN**age / (NOISE * max(batch.seconds, 1e-3)) ** 2, batch.changed_rows, batch.seconds)
        for age, batch in enumerate(measured)
    ]
    points.append((1 / (FIXED_DOUBT * max(fixed, *(batch.seconds for batch in measured))) ** 2, 0, fixed))
    total = sum(w for w, _, _ in points)
    rows = sum(w * x for w, x, _ in points) / total
    seconds = sum(w * y for w, _, y in points) / total
    prior = 1 / (ROW_DOUBT * slope) ** 2
    found = sum(w * (x - rows) * (y - seconds) for w, x, y in points) + prior * slope
    found = max(0.0, found / (sum(w * (x - rows) ** 2 for w, x, _ in points) + prior))
    return seconds - found * rows, found
