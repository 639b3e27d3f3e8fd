"""Tell somebody when a task of a group's run has failed for good, or a run is late."""

from __future__ import annotations

import inspect
import logging
from typing import Any

logger = logging.getLogger(__name__)


def tell_failed(context: Any) -> None:
    """A task's ``on_failure_callback``: log it, and call the function that ``[ivm] on_failure`` names.

    Called in the task's own process after its last try, with ``dag_id``, ``run_id``, ``task_id`` and ``error``, the
    message of what was raised.
    """
    ti = context["ti"]
    what = {
        "dag_id": ti.dag_id,
        "run_id": ti.run_id,
        "task_id": ti.task_id,
        "error": str(context.get("exception") or ""),
    }
    logger.error("%(task_id)s of %(dag_id)s, run %(run_id)s, has failed: %(error)s", what)
    if (told := named("on_failure")) is not None:
        told(**what)


async def tell_late(group: str, target_lag_seconds: float, **_: Any) -> None:
    """Log the alert; ``[ivm] on_late`` of Airflow's configuration names a function that is called with the same."""
    import asyncio

    logger.error("The views of %s are staler than their ivm.target_lag of %g s allows", group, target_lag_seconds)
    if (told := named("on_late")) is None:
        return
    if inspect.iscoroutinefunction(told):
        await told(group=group, target_lag_seconds=target_lag_seconds)
    else:
        await asyncio.to_thread(told, group=group, target_lag_seconds=target_lag_seconds)


def named(setting: str) -> Any:
    """The function that a setting in ``[ivm]`` of Airflow's configuration names; None where it names none."""
    from airflow.sdk.configuration import conf
    from airflow.sdk.module_loading import import_string

    path = conf.get("ivm", setting, fallback="")
    return import_string(path) if path else None
