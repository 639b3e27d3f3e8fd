"""When a group's DAG runs, and when it is late."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from airflow.sdk import (
    AssetAny,
    AssetOrTimeSchedule,
    AsyncCallback,
    CronDataIntervalTimetable,
    DeadlineAlert,
    DeadlineReference,
)

from ivm_airflow.assets import triggers
from ivm_airflow.manifest import Group
from ivm_airflow.telling import tell_late


def timetable(group: Group) -> Any:
    """By cron with true data intervals, by updates of tables, by either, or None: on demand only."""
    cron = CronDataIntervalTimetable(group.schedule, timezone="UTC") if group.schedule else None
    tables = triggers(group) if group.on_update else []
    if not tables:
        return cron
    return AssetOrTimeSchedule(timetable=cron, assets=AssetAny(*tables)) if cron else AssetAny(*tables)


def deadline(group: Group) -> DeadlineAlert | None:
    """An alert where a run of a group with ``ivm.target_lag`` has not succeeded that long after it was queued."""
    if group.target_lag_seconds is None:
        return None
    return DeadlineAlert(
        reference=DeadlineReference.DAGRUN_QUEUED_AT,
        interval=timedelta(seconds=group.target_lag_seconds),
        callback=AsyncCallback(tell_late, kwargs={"group": group.name, "target_lag_seconds": group.target_lag_seconds}),
        name=f"ivm.target_lag of {group.name}",
    )
