"""Airflow's public REST API, asked inside the API server's own process and in the visitor's name.

A run that the page starts is a run that Airflow's API started: it checks the permission once more, validates the
parameters by the DAG's schema and writes its audit log.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from fastapi import Request

from ivm_airflow.web.access import Access
from ivm_airflow.web.mount import AIRFLOW

RUNS = 5


@dataclass(frozen=True, slots=True)
class Run:
    """A DAG run. ``views`` None: it was for the whole group."""

    id: str
    state: str
    at: datetime | None
    views: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Dag:
    """The DAG of a group as Airflow knows it; ``exists`` False: not parsed yet, or gone."""

    id: str
    exists: bool = False
    paused: bool = False
    runs: tuple[Run, ...] = ()


class TriggerFailed(Exception):
    """Airflow started no run: its answer's status, and why in its own words."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


async def find_dag(request: Request, access: Access, dag_id: str) -> Dag:
    """The DAG with its newest runs."""
    status, dag = await _ask(request, access, "GET", f"dags/{quote(dag_id, safe='')}")
    if status != 200:
        return Dag(dag_id)
    path = f"dags/{quote(dag_id, safe='')}/dagRuns?limit={RUNS}&order_by=-run_after"
    status, found = await _ask(request, access, "GET", path)
    runs = found.get("dag_runs", []) if status == 200 else []
    return Dag(dag_id, True, bool(dag.get("is_paused")), tuple(map(_run, runs)))


async def trigger(request: Request, access: Access, dag_id: str, conf: Mapping[str, Any], note: str) -> str:
    """Start a run and return its id. Raises TriggerFailed."""
    body = {"logical_date": None, "conf": dict(conf), "note": note or None}
    status, answer = await _ask(request, access, "POST", f"dags/{quote(dag_id, safe='')}/dagRuns", body)
    if status >= 300:
        detail = answer.get("detail")
        raise TriggerFailed(status, detail if isinstance(detail, str) else "Airflow refused the run.")
    return str(answer["dag_run_id"])


def _run(found: Mapping[str, Any]) -> Run:
    at = found.get("run_after")
    conf = found.get("conf")
    views = conf.get("views") if isinstance(conf, dict) else None
    named = tuple(map(str, views)) if isinstance(views, list) and views else None
    return Run(str(found["dag_run_id"]), str(found["state"]), datetime.fromisoformat(at) if at else None, named)


async def _ask(
    request: Request, access: Access, method: str, path: str, body: Mapping[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    import httpx
    from starlette.concurrency import run_in_threadpool

    token = await run_in_threadpool(access.token, request.state.visitor)
    # A bearer token, not the cookie: Airflow would renew the cookie a second time within one request.
    headers = {"Authorization": f"Bearer {token}", "Referer": str(request.url)}
    transport = httpx.ASGITransport(app=request.scope[AIRFLOW], raise_app_exceptions=False)
    # No such host is asked: the request goes to the application itself, under the path that it believes to be at.
    home = f"http://airflow{request.scope.get('app_root_path', '')}"
    async with httpx.AsyncClient(transport=transport) as client:
        answer = await client.request(method, f"{home}/api/v2/{path}", json=body, headers=headers)
    try:
        content = answer.json()
    except ValueError:
        content = {}
    return answer.status_code, content if isinstance(content, dict) else {}
