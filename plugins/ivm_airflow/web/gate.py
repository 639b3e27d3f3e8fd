"""What every request passes first: nobody gets past it without a login, every answer carries the same strict headers."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer

from ivm_airflow.web.access import Access, Refused, Visitor
from ivm_airflow.web.mount import AIRFLOW

TOKEN_MAX_SECONDS = 12 * 3600
SALT = "ivm page"
HEADERS = {
    # No script at all, nothing from elsewhere, no inline style; forms go to this server only.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
}

Next = Callable[[Request], Awaitable[Response]]


def gate(access: Access) -> Callable[[Request, Next], Awaitable[Response]]:
    """The middleware: unknown paths and files are behind it too, so that it cannot be forgotten for a new route."""

    async def pass_or_refuse(request: Request, call_next: Next) -> Response:
        try:
            request.state.visitor = await access.visitor(request)
        except Refused as refused:
            response = _refusal(request, refused.status)
        else:
            response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return pass_or_refuse


def _refusal(request: Request, status: int) -> Response:
    """A browser that asks for a page is sent to Airflow's login and comes back; everything else is refused."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        login = f"{request.scope.get('app_root_path', '')}/api/v2/auth/login"
        return RedirectResponse(f"{login}?{urlencode({'next': here})}", 303)
    return PlainTextResponse("Log in to Airflow first.", status)


def form_token(request: Request) -> str:
    """A token for the forms of the page that this visitor is shown; nobody else can use it, and not for long."""
    visitor: Visitor = request.state.visitor
    return _serializer(request).dumps([visitor.id, secrets.token_urlsafe(6)])


def is_own_form(request: Request, token: str) -> bool:
    """Whether a POST comes from a form that this page showed to this very visitor."""
    visitor: Visitor = request.state.visitor
    try:
        signed: Any = _serializer(request).loads(token, max_age=TOKEN_MAX_SECONDS)
    except BadSignature:
        return False
    return signed[0] == visitor.id and _is_same_site(request)


def _is_same_site(request: Request) -> bool:
    """What the browser says of the page that the form stood on; browsers that say nothing leave it to the token."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _serializer(request: Request) -> URLSafeTimedSerializer:
    # Airflow's own key: the same in all processes of its API server.
    return URLSafeTimedSerializer(request.scope[AIRFLOW].state.secret_key, salt=SALT)
