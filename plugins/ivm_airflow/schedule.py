"""Which views a run validates by itself: those whose last validation is older than ``ivm.validate_every`` allows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ivm_airflow.manifest import read_groups

if TYPE_CHECKING:
    from ivm_core import Engine


def views_due(engine: Engine, group: str, views: Collection[str]) -> list[str]:
    """The views of ``views`` whose validation is due now, in their order."""
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
    checked = {item.view.name: item.last_validation for item in engine.catalog.activity()}
    last = {view: found.checked_at for view in asked if (found := checked.get(view)) is not None}
    return [view for view in asked if is_due(last.get(view), every[view], now)]


def is_due(validated_at: datetime | None, every_seconds: float | None, now: datetime) -> bool:
    """True where a view has a rhythm and has never been validated, or not within it."""
    if every_seconds is None:
        return False
    return validated_at is None or now - validated_at >= timedelta(seconds=every_seconds)
