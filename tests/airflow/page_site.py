"""The page as Airflow mounts it, with a stand-in for Airflow: three people, and an API that remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from ivm_airflow.web.access import Refused, Visitor
from ivm_airflow.web.app import build_app
from ivm_airflow.web.mount import PREFIX, PageApp
from ivm_airflow.web.store import Store

ORIGIN = "http://testserver"


@dataclass
class Staff:
    """Who may what: the cookie says who somebody is; ``hidden`` DAGs nobody may see."""

    hidden: set[str] = field(default_factory=set)

    async def visitor(self, request: Request) -> Visitor:
        name = request.cookies.get("who")
        if name not in ("viewer", "user", "admin"):
            raise Refused(401)
        return Visitor(name, name, name)

    def readable(self, visitor: Visitor, dag_ids: Collection[str]) -> frozenset[str]:
        return frozenset(dag_ids) - self.hidden

    def may_trigger(self, visitor: Visitor, dag_id: str) -> bool:
        return visitor.user != "viewer" and dag_id not in self.hidden

    def token(self, visitor: Visitor) -> str:
        return str(visitor.user)


@dataclass
class Client:
    """Somebody's browser, as far as these tests need one; it follows no redirects."""

    airflow: FastAPI
    cookies: dict[str, str]

    def get(self, url: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._ask("GET", url, **options))

    def post(self, url: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._ask("POST", url, **options))

    async def _ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.airflow)
        async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=self.cookies) as client:
            return await client.request(method, url, **options)


@dataclass
class Site:
    """The running page. ``triggered``: the bodies of the runs that were asked for, by DAG."""

    staff: Staff
    airflow: FastAPI
    triggered: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)
    known_dags: set[str] = field(default_factory=set)
    fails_with: tuple[int, str] | None = None

    def client(self, who: str | None = None) -> Client:
        """The browser of one of the staff; None: nobody is logged in."""
        return Client(self.airflow, {} if who is None else {"who": who})


def make_site(open_store: Any = Store.open, root_path: str = "", docs_scripts: bool = True) -> Site:
    """The page under Airflow's stand-in; ``root_path``: where a proxy shows Airflow."""
    airflow = FastAPI(root_path=root_path)
    airflow.state.secret_key = "a key for tests"
    site = Site(Staff(), airflow)
    airflow.mount(PREFIX, PageApp(lambda: build_app(open_store, site.staff, docs_scripts)))

    @airflow.get("/api/v2/dags/{dag_id}")
    def get_dag(dag_id: str) -> Any:
        return {"dag_id": dag_id, "is_paused": True} if dag_id in site.known_dags else JSONResponse({}, 404)

    @airflow.get("/api/v2/dags/{dag_id}/dagRuns")
    def get_runs(dag_id: str) -> Any:
        runs = [
            {"dag_run_id": f"manual__{number}", "state": "queued", "run_after": None, "conf": body.get("conf")}
            for number, (asked, body, _) in enumerate(site.triggered)
            if asked == dag_id
        ]
        return {"dag_runs": runs}

    @airflow.post("/api/v2/dags/{dag_id}/dagRuns")
    async def post_run(dag_id: str, request: Request) -> Any:
        if site.fails_with is not None:
            return JSONResponse({"detail": site.fails_with[1]}, site.fails_with[0])
        site.triggered.append((dag_id, await request.json(), request.headers["authorization"]))
        return {"dag_run_id": f"manual__{len(site.triggered) - 1}"}

    return site
