"""The reports of runs, as the page lists and serves them: those of groups that the visitor may see, and no other file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path
from typing import Any

from ivm_airflow.deployment import reports_folder
from ivm_airflow.report import OF_VIEWS
from ivm_airflow.slug import SAFE, dag_id, report_name, slug

LISTED = 50
READ = 1000  # files that are opened for a list at most: nothing removes old reports


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run in the list. ``name``: of its files, without the ending."""

    name: str
    run_id: str
    group: str
    mode: str
    ok: bool
    written_at: str
    views: int
    rows_changed: int
    seconds: float
    full_seconds: float | None
    wrong: tuple[str, ...]


def newest_reports(readable: Collection[str], group: str = "") -> tuple[RunReport, ...]:
    """The newest reports of the groups, or of one of them."""
    wanted = {group} & set(readable) if group else set(readable)
    found = []
    for file in _newest(reports_folder()):
        report = _read(file)
        if report is not None and report.group in wanted:
            found.append(report)
        if len(found) == LISTED:
            break
    return tuple(found)


def reported(group: str, run_ids: Iterable[str]) -> dict[str, str]:
    """The names of the reports of those of the group's runs that have one, by the run's id."""
    folder = reports_folder()
    found = {}
    for run_id in run_ids:
        # At first they were named by the run's id alone: such a one may be of another group.
        name, older = report_name(dag_id(group), run_id), slug(run_id)
        if (folder / f"{name}.html").is_file():
            found[run_id] = name
        elif (report := _read(folder / f"{older}.json")) is not None and report.group == group:
            found[run_id] = older
    return found


def report_file(file_name: str, readable: Collection[str]) -> Path | None:
    """A report's page or JSON; None for any other file, and for runs of groups that the visitor may not see."""
    name, dot, ending = file_name.rpartition(".")
    # Only what `slug` makes is a report's name: no path leads out of the folder.
    if not dot or ending not in ("html", "json") or not name or not set(name) <= SAFE:
        return None
    folder = reports_folder()
    report = _read(folder / f"{name}.json")
    file = folder / f"{name}.{ending}"
    return file if report is not None and report.group in readable and _is_own(file) else None


def _newest(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return nlargest(READ, folder.glob("*.json"), key=lambda file: file.stat().st_mtime_ns)


def _is_own(file: Path) -> bool:
    return file.is_file() and not file.is_symlink()


def _read(file: Path) -> RunReport | None:
    """The numbers of a report; None where there is none, or the file is something else."""
    try:
        document: dict[str, Any] = json.loads(file.read_text("utf-8")) if _is_own(file) else {}
        views = document["views"]
        full = [view["full_seconds"] for view in views if view["full_seconds"] is not None]
        return RunReport(
            name=file.stem,
            run_id=str(document["run_id"]),
            group=str(document["group"]),
            mode=str(document["mode"]),
            ok=bool(document["ok"]),
            written_at=str(document["written_at"]),
            views=len(views),
            rows_changed=int(document["rows_changed"]),
            seconds=float(document["seconds"]),
            full_seconds=sum(full) if full and len(full) == len(views) else None,
            wrong=tuple(sorted({name for trouble in OF_VIEWS for name in document.get(trouble, ())})),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
