"""Which views a run validates by itself: those whose ``ivm.validate_every`` is up, and those that differed the last time."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ivm_airflow.manifest import read_groups

if TYPE_CHECKING:
    from ivm_core import Engine
    from ivm_core.catalog.model import ValidationRecord, ViewRecord


def views_due(engine: Engine, group: str, views: Collection[str]) -> list[str]:
    """The views of ``views`` whose validation is due now, in their order.

    What differed is compared in every run until it does no more: a run that did not look would end well with wrong rows.
    Views whose ``ivm.on_drift`` is ``warn`` keep their rhythm.
    """
    every = {
        view.name: view.validate_every_seconds
        for entry in read_groups()
        if entry.name == group
        for view in entry.views
        if view.validate_every_seconds is not None
    }
    asked = [view for view in views if view in every]
    if not asked:
        return []
    now = datetime.now(UTC)
    known = {item.view.name: item for item in engine.catalog.activity(asked)}
    return [
        view
        for view in asked
        if (item := known.get(view)) is None
        or is_due(item.last_validation, every[view], now, answers(item.view, "warn"))
    ]


def answers(view: ViewRecord, answer: str) -> bool:
    """Whether a view's ``ivm.on_drift`` is the answer."""
    return ("ivm.on_drift", answer) in view.properties


def is_due(last: ValidationRecord | None, every_seconds: float, now: datetime, tolerant: bool = False) -> bool:
    """True where a view was never validated, not within its rhythm, or differed when it was (unless that is tolerated)."""
    if last is None or not (last.ok or tolerant):
        return True
    return now - last.checked_at >= timedelta(seconds=every_seconds)
