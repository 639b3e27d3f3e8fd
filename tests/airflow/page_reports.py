"""Reports of runs for the page's tests, as the runs' last task writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ivm_airflow.report import build_report, write_report

VIEW = "tpch.q05_local_supplier_volume"
SCRIPT = "<script>alert(1)</script>"


def write_run(reports: Path, run_id: str, group: str, view: str, seconds: float, **more: Any) -> str:
    """A run's report; the name of its files. ``more``: of the view's batch."""
    batch = {"view": view, "strategy": "incremental", "reason": "linear", "rows_changed": 1200, "seconds": seconds}
    run = {"run_id": run_id, "group": group, "mode": "catch_up", "reason": SCRIPT, "as_of": None, "versions": {}}
    run["written_at"] = "2026-11-22T10:00:00+00:00"
    data, _ = write_report(build_report(run, [{**batch, "error": None, **more}], []), reports)
    return data.stem


def add_reports(reports: Path, days: int) -> None:
    """The runs of so many days, ``scheduled__<day>`` with as many seconds; the last day is the newest."""
    for day in range(1, days + 1):
        name = write_run(reports, f"scheduled__{day}", "tpch", VIEW, seconds=float(day), rows_changed=100 * day)
        os.utime(reports / f"{name}.json", (day, day))
