"""A run's report as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ivm_airflow.templating import templates
from ivm_airflow.web.words import count


def render_page(report: Mapping[str, Any]) -> str:
    """The page; every value is escaped by the template engine."""
    environment = templates(seconds=_seconds, count=count)
    slowest = max((entry["full_seconds"] or entry["seconds"] for entry in report["views"]), default=0.0)
    return environment.get_template("report.html").render(report=report, slowest=max(slowest, 1e-9))


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 60 else f"{value / 60:.1f} min"
