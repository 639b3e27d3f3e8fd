"""Answers of the page: a rendered template, a message with its status, and errors turned into messages."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from ivm_airflow.failures import Permanent
from ivm_airflow.web.render import render

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")
TITLES = {400: "That did not make sense", 403: "Not allowed", 404: "Not found", 409: "Not now", 503: "Not available"}


def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A template with what all pages know: where the page and Airflow begin, and who is looking."""
    root = request.scope.get("root_path", "")
    home = request.scope.get("app_root_path", "")
    return HTMLResponse(
        render(template, root=root, airflow=home, visitor=request.state.visitor.name, **values), status_code=status
    )


def message(request: Request, status: int, text: str) -> Response:
    """A page that says one thing."""
    return page(request, "message.html", status, title=TITLES.get(status, "Airflow refused"), text=text)


def not_found(request: Request) -> Response:
    """The same for what is not there and for what this visitor may not see."""
    return message(request, 404, "There is no such page, or you may not see it.")


def guarded(request: Request, answer: Callable[[], Answer]) -> Answer | Response:
    """The answer, or a message where the deployment's settings or its catalogue fail."""
    from ivm_core.errors import IvmError

    try:
        return answer()
    except Permanent as error:
        return message(request, 400, str(error))
    except IvmError as error:
        log.warning("The page of views is not available: %s", error.message)
        return message(request, 503, error.message)
