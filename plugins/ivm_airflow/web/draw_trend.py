"""The runs of one group over time: their seconds and the rows that they changed, as bar charts."""

from __future__ import annotations

from collections.abc import Sequence

from ivm_airflow.web import words
from ivm_airflow.web.draw_history import HistoryPicture, draw_bars
from ivm_airflow.web.run_reports import RunReport


def draw_trends(reports: Sequence[RunReport]) -> tuple[tuple[str, HistoryPicture], ...]:
    """The charts with their titles; none where the reports (newest first) are of several groups, which do not compare."""
    if len({report.group for report in reports}) != 1:
        return ()
    full = next((report.full_seconds for report in reports if report.full_seconds is not None), None)
    seconds = [(report.seconds, _kind(report), _title(report)) for report in reports]
    rows = [(float(report.rows_changed), _kind(report), _title(report)) for report in reports]
    text = f"full refresh {words.seconds(full)}"
    return ("Seconds", draw_bars(seconds, " s", full, text)), ("Rows changed", draw_bars(rows, ""))


def _kind(report: RunReport) -> str:
    return "delta" if report.ok else "failed"


def _title(report: RunReport) -> str:
    end = "" if report.ok else f", needs attention: {', '.join(report.wrong) or 'see the report'}"
    rows = f"{words.count(report.rows_changed)} rows changed"
    return f"{report.run_id}, {report.written_at}, {words.seconds(report.seconds)}, {rows}{end}"
