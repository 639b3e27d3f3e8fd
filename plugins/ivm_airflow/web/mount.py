"""The page as an ASGI application that costs nothing until somebody asks for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

PREFIX = "/ivm"
AIRFLOW = "ivm.airflow"  # in the request's scope: Airflow's own application, which the page asks and triggers through

Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[None]]


class PageApp:
    """Built by ``build`` at the first request: workers and the scheduler import plugins too, and serve nothing."""

    def __init__(self, build: Callable[[], Application] | None = None) -> None:
        self._build = build or _build
        self._built: Application | None = None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if self._built is None:
            self._built = self._build()
        await self._built({**scope, AIRFLOW: scope.get("app")}, receive, send)


def page_address(base_url: str) -> str:
    """Where the page is on the server whose ``[api] base_url`` is given.

    >>> page_address("https://example.org/airflow/")
    '/airflow/ivm/'
    """
    return f"{urlsplit(base_url).path.rstrip('/')}{PREFIX}/"


def _build() -> Application:
    from airflow.configuration import conf

    from ivm_airflow.web.access import AirflowAccess
    from ivm_airflow.web.app import build_app
    from ivm_airflow.web.store import Store

    return build_app(Store.open, AirflowAccess(), conf.getboolean("ivm", "data_docs_scripts", fallback=True))
