"""Numbers, times and stored codes as people read them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

DASH = "–"
REASONS = {
    "no_changes": "nothing it reads has changed",
    "already_current": "it was there already",
    "applied_elsewhere": "another run had done it",
    "linear": "weighted changes suffice",
    "affected_keys": "affected keys are computed anew",
    "first_build": "first build",
    "requested": "somebody asked for it",
    "policy": "the view’s policy is full",
    "cheaper": "predicted to be faster",
    "unsupported_operator": "an operator has no incremental rule",
    "history_gone": "old versions can no longer be read",
    "changes_fail": "its changes could not be computed by themselves",
    "table_replaced": "a base table was created anew",
    "time_zone_changed": "the session has another time zone",
    "state_changed": "something else wrote the view’s table",
    "failed": "the batch failed",
    "rewound": "a run was asked to go back in time",
    "repaired": "it differed from its query",
    "plan_changed": "its query changed, or is compiled differently by now",
}
_MADE_UP = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # ids of runs that no DAG made
_CLEARED = re.compile(r" \(cleared [0-9]+\)$")
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"))


def reason(code: str) -> str:
    """A stored reason as part of a sentence."""
    return REASONS.get(code, code.replace("_", " "))


def dag_run(run_id: str | None) -> str:
    """The DAG run that a batch's run was, by its id in Airflow; nothing where the batch was started by hand.

    >>> dag_run("manual__1 (cleared 2)"), dag_run("0ed6b8cf-5f3a-4b1e-9f0e-0d9e7f1b2c3d"), dag_run(None)
    ('manual__1', '', '')
    """
    known = _CLEARED.sub("", run_id or "")
    return "" if _MADE_UP.fullmatch(known) else known


def seconds(value: float | None) -> str:
    """0.04 s, 1.2 s, 38 s, 3 min 20 s; a dash for None."""
    if value is None:
        return DASH
    if value < 59.5:
        return f"{value:.2f} s" if value < 1 else f"{value:.1f} s" if value < 20 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02d} s"


def count(value: int | None) -> str:
    """1 234 567 with thin spaces; a dash for None."""
    return DASH if value is None else f"{value:,}".replace(",", "\u202f")


def span(value: float | None) -> str:
    """A stretch of time, roughly: 3 d, 7 h, 12 min.

    >>> span(90_000), span(7 * 3600), span(5)
    ('1 d', '7 h', '< 1 min')
    """
    if value is None:
        return DASH
    size, name = next(((size, name) for size, name in UNITS if value >= size), (0.0, ""))
    return f"{int(value // size)} {name}" if name else "< 1 min"


def moment(value: datetime | None) -> str:
    """A time in UTC to the minute."""
    return DASH if value is None else value.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def ago(value: datetime | None) -> str:
    """How long ago a time was, roughly."""
    return DASH if value is None else f"{span((datetime.now(UTC) - value).total_seconds())} ago"


def gain(one: float | None, full: float | None) -> str:
    """How much faster a batch is than a full refresh: 5.2×, 31×; a dash where one of them is unknown."""
    if not one or not full:
        return DASH
    ratio = full / one
    return f"{ratio:.1f}×" if ratio < 9.95 else f"{ratio:.0f}×"
