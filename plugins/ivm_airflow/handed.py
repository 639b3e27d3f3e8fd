"""What a task hands to the program that spark-submit starts for it, and what that leaves: small JSON both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from ivm_airflow.failures import Concurrent, PartlyFailed, Permanent

# What the steps read of the tasks before them.
READ = (("cut", "return_value"), ("maintain", "reports"))
INSTANTS = ("data_interval_start", "data_interval_end")
FAILURES = {kind.__name__: kind for kind in (Concurrent, PartlyFailed, Permanent)}


def pack_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a task's context that ``tasks`` reads."""
    run, ti = context["dag_run"], context["ti"]
    return {
        "params": dict(context["params"]),
        "run_id": str(context["run_id"]),
        "dag_run": {
            "run_type": str(getattr(run.run_type, "value", run.run_type)),
            "run_after": _text(run.run_after),
            "clear_number": getattr(run, "clear_number", 0) or 0,
        },
        **{name: _text(context.get(name)) for name in INSTANTS},
        "left": [[task, key, ti.xcom_pull(task_ids=task, key=key)] for task, key in READ],
    }


def unpack_context(packed: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of ``pack_context``; what the step pushes stays in its ``ti``."""
    run = {**packed["dag_run"], "run_after": _instant(packed["dag_run"]["run_after"])}
    return {
        "params": packed["params"],
        "run_id": packed["run_id"],
        "dag_run": SimpleNamespace(**run),
        **{name: _instant(packed[name]) for name in INSTANTS if packed[name]},
        "ti": HandedTask({(task, key): value for task, key, value in packed["left"]}),
    }


@dataclass(slots=True)
class HandedTask:
    """What stands for Airflow's task instance: the values of earlier tasks, by task and key, and those ``pushed`` here.

    ``task``: what is left on the task itself.
    """

    left: Mapping[tuple[str, str], Any]
    pushed: dict[str, Any] = field(default_factory=dict)
    task: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(told=None))

    def xcom_pull(self, task_ids: str, key: str = "return_value") -> Any:
        return self.left.get((task_ids, key))

    def xcom_push(self, key: str, value: Any) -> None:
        self.pushed[key] = value


def pack_failure(error: Exception) -> dict[str, str]:
    """One of ``failures`` as JSON."""
    return {"kind": type(error).__name__, "message": str(error)}


def unpack_failure(packed: Mapping[str, str]) -> Exception:
    """The inverse of ``pack_failure``."""
    return FAILURES[packed["kind"]](packed["message"])


def _text(instant: Any) -> str | None:
    return None if instant is None else str(instant.isoformat())


def _instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
