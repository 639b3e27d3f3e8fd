"""Templates → HTML; every value is escaped by the template engine."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from ivm_airflow.web import words


def render(template: str, **values: Any) -> str:
    """The page of a template in ``templates/web``."""
    return str(_environment().get_template(f"web/{template}").render(**values))


@cache
def style() -> str:
    """The style sheet."""
    return files("ivm_airflow").joinpath("templates", "web", "page.css").read_text("utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ivm_airflow", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("seconds", "count", "span", "ago", "moment", "reason"):
        environment.filters[name] = getattr(words, name)
    environment.filters["segment"] = lambda text: quote(str(text), safe="")
    environment.globals["gain"] = words.gain
    return environment
