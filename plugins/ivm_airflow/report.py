"""The report of a run: one dictionary, written as JSON and as a page that needs nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ivm_airflow.slug import dag_id, report_name

Entry = dict[str, Any]
OF_VIEWS = ("failed", "uncompared", "drifted", "unmet")
TROUBLES = ("unfinished", *OF_VIEWS)  # any of which fails a run
_NUMBERS = ("ok", *TROUBLES, "seconds", "rows_changed")


def build_report(
    run: Mapping[str, Any],
    maintained: Iterable[Mapping[str, Any]],
    validated: Iterable[Mapping[str, Any]],
    *,
    docs: str | None = None,
    unfinished: Iterable[str] = (),
    uncompared: Mapping[str, str] | None = None,
    validated_to_end: bool = True,
) -> Entry:
    """Join what ``maintain`` and ``validate`` found, one entry a view; ``validated`` None: the view was not checked.

    ``unfinished``: the tasks that broke off before they could say anything. ``uncompared``: why views that were due could
    not be compared. ``validated_to_end``: not where ``validate`` broke off on the way, with or without a finding.
    """
    checks = {check["view"]: check for check in validated}
    views = [_entry(report, checks.pop(report["view"], None)) for report in maintained]
    views += [
        _entry({"view": view, "strategy": "noop", "reason": "already_current"}, check) for view, check in checks.items()
    ]
    failed = [view["view"] for view in views if view["error"]]
    drifted = [view["view"] for view in views if view["validated"] is False and not view["tolerated"]]
    unmet = [view["view"] for view in views if _is_critical(view["broken"]) and not view["tolerated"]]
    broken_off = list(unfinished)
    if not (validated_to_end or drifted or unmet or uncompared or "validate" in broken_off):
        broken_off.append("validate")  # by something else than what it found
    troubles = dict(zip(TROUBLES, (broken_off, failed, dict(uncompared or {}), drifted, unmet), strict=True))
    return {
        **run,
        "ok": not any(troubles.values()),
        **troubles,
        "seconds": round(sum(view["seconds"] for view in views), 3),
        "rows_changed": sum(view["rows_changed"] for view in views),
        "data_docs": docs,
        "views": views,
    }


def summary(report: Mapping[str, Any]) -> Entry:
    """The few numbers of a report that are worth an XCom."""
    strategies: dict[str, int] = {}
    for view in report["views"]:
        strategies[view["strategy"]] = strategies.get(view["strategy"], 0) + 1
    counts = {"views": len(report["views"]), "strategies": strategies}
    return {**counts, **{key: report[key] for key in _NUMBERS}}


def write_report(report: Mapping[str, Any], folder: Path) -> tuple[Path, Path]:
    """Write ``<report_name of the run>.json`` and ``.html`` under ``folder``; a second writing replaces the first."""
    from ivm_airflow.page import render_page

    folder.mkdir(parents=True, exist_ok=True)
    name = report_name(dag_id(str(report["group"])), str(report["run_id"]))
    data = folder / f"{name}.json"
    page = folder / f"{name}.html"
    _replace(data, json.dumps(report, indent=2, sort_keys=True, default=str))
    _replace(page, render_page(report))
    return data, page


def _entry(report: Mapping[str, Any], check: Mapping[str, Any] | None) -> Entry:
    return {
        "view": report["view"],
        "strategy": str(report["strategy"]),
        "reason": str(report["reason"]),
        "detail": report.get("detail") or "",
        "from_versions": dict(report.get("from_versions") or {}),
        "to_versions": dict(report.get("to_versions") or {}),
        "rows_changed": int(report.get("rows_changed") or 0),
        "seconds": float(report.get("seconds") or 0.0),
        "shared_seconds": float(report.get("shared_seconds") or 0.0),
        "batch": int(report.get("batch") or 0),
        "error": report.get("error"),
        "validated": None if check is None else bool(check["ok"]),
        "tolerated": check is not None and bool(check["tolerated"]),
        "repaired": check is not None and bool(check.get("repaired")),
        "repair": "" if check is None else str(check.get("repair") or ""),
        "broken": [] if check is None else list(check.get("broken") or ()),
        "missing": None if check is None else int(check["missing_count"]),
        "unexpected": None if check is None else int(check["unexpected_count"]),
        "rows": None if check is None else int(check["rows"]),
        "coverage": None if check is None else float(check.get("coverage", 1.0)),
        "validate_seconds": None if check is None else float(check["seconds"]),
        "full_seconds": None if check is None else check.get("full_seconds"),
    }


def _is_critical(broken: Iterable[Mapping[str, Any]]) -> bool:
    return any(item["severity"] == "critical" for item in broken)


def _replace(path: Path, text: str) -> None:
    partial = path.with_suffix(f"{path.suffix}.{os.getpid()}")
    partial.write_text(text, "utf-8")
    partial.replace(path)
