"""What the list and a view's own page say of a view, from its newest records in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ivm_airflow.web.lag import CLOCK, Lag

if TYPE_CHECKING:
    from ivm_core.catalog.model import ViewActivity

STATES = ("drifted", "never", "validated")  # of a validation, the one to look at first


@dataclass(frozen=True, slots=True)
class Row:
    """A view in the list. ``full_seconds``: measured by the last validation that did, else predicted.

    ``clock_at``: the time that a view of the current time was computed for; None of any other view.
    """

    name: str
    group: str
    comment: str
    built: bool
    last_at: datetime | None
    strategy: str
    reason: str
    detail: str
    rows_changed: int | None
    seconds: float | None
    full_seconds: float | None
    full_measured: bool
    validation: str
    checked_at: datetime | None
    error: str
    versions: Mapping[str, int]
    clock_at: datetime | None = None
    behind: int | None = None  # versions, where the list is sorted by them
    lag: Lag | None = None


def row_of(activity: ViewActivity) -> Row:
    """What the catalogue knows of a view."""
    view, batch, checked = activity.view, activity.last_batch, activity.last_validation
    attempt = activity.last_attempt
    measured = checked.full_seconds if checked is not None else None
    own = batch.seconds if batch is not None and batch.strategy == "full" else None
    predicted = batch.predicted_full_seconds if batch is not None else None
    return Row(
        name=view.name,
        group=view.group,
        comment=view.comment,
        built=batch is not None,
        last_at=batch.finished_at if batch else None,
        strategy=str(batch.strategy) if batch else "",
        reason=str(batch.reason) if batch else "",
        detail=batch.detail if batch else "",
        rows_changed=batch.rows_changed if batch else None,
        seconds=batch.seconds if batch else None,
        full_seconds=next((value for value in (measured, own, predicted) if value is not None), None),
        full_measured=measured is not None or own is not None,
        validation=validation_state(activity),
        checked_at=checked.checked_at if checked else None,
        error=(attempt.error or "") if attempt is not None else "",
        versions=batch.to_versions if batch else {},
        clock_at=_clock_at(batch.to_versions) if batch else None,
    )


def _clock_at(versions: Mapping[str, int]) -> datetime | None:
    from ivm_core.batch.clock import instant_of

    return instant_of(versions[CLOCK]) if CLOCK in versions else None


def validation_state(activity: ViewActivity) -> str:
    """``validated``, ``drifted`` or ``never``."""
    checked = activity.last_validation
    if activity.view.status == "drifted" or (checked is not None and not checked.ok):
        return "drifted"
    return "never" if checked is None else "validated"
