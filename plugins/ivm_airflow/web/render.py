"""Templates → HTML; every value is escaped by the template engine."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ivm_airflow.templating import templates
from ivm_airflow.web import words

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """The page of a template in ``templates/web``."""
    return str(_environment().get_template(f"web/{template}").render(**values))


@cache
def style() -> str:
    """The style sheet."""
    return files("ivm_airflow").joinpath("templates", "web", "page.css").read_text("utf-8")


@cache
def _environment() -> Environment:
    named = ("seconds", "count", "span", "ago", "moment", "reason", "dag_run")
    filters = {name: getattr(words, name) for name in named}
    environment = templates(**filters, segment=lambda text: quote(str(text), safe=""))
    environment.globals["gain"] = words.gain
    return environment
