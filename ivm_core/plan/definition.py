"""The CREATE INCREMENTAL MATERIALIZED VIEW statement: name, schedule, settings and query, parsed and checked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from sqlglot import exp


class Policy(StrEnum):
    """What the user allows (``ivm.refresh_policy``)."""

    AUTO = "auto"  # whatever is predicted to be fastest
    INCREMENTAL = "incremental"  # full only when it must, with a reason
    INCREMENTAL_STRICT = "incremental_strict"  # fail rather than full
    FULL = "full"


class OnDrift(StrEnum):
    """What a failed validation does (``ivm.on_drift``)."""

    FAIL = "fail"
    REPAIR = "repair"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """A parsed view definition. ``name`` is ``schema.view`` in lower case; ``sql`` the whole statement as written."""

    name: str
    query: exp.Expression
    sql: str
    comment: str = ""
    schedule: str | None = None  # cron expression
    group: str = "default"  # the maintenance group: GROUP name, or derived from the schedule
    policy: Policy = Policy.AUTO
    validate_every: timedelta | None = None
    on_drift: OnDrift = OnDrift.FAIL
    properties: tuple[tuple[str, str], ...] = ()
