"""The decision how a batch is computed: strategy, reason, and what was predicted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Strategy(StrEnum):
    """How a batch brings a view from one version vector to the next."""

    NOOP = "noop"  # nothing changed, or the view is already there
    INCREMENTAL = "incremental"  # weighted changes only
    AFFECTED = (
        "affected"  # the affected keys are recomputed, or a nonlinear operator's before and after are compared on them
    )
    FULL = "full"  # the whole query
    REWIND = "rewind"  # the state of an earlier batch is brought back
    REPAIR = "repair"  # the rows that differ from the query are mended


class Reason(StrEnum):
    """Why a strategy was chosen; stored with every batch."""

    NO_CHANGES = "no_changes"  # no base table has changes in the range
    ALREADY_CURRENT = "already_current"  # the view is at or past the requested cut
    APPLIED_ELSEWHERE = "applied_elsewhere"  # a concurrent run committed the same batch
    LINEAR = "linear"  # every operator has a weight rule
    AFFECTED_KEYS = "affected_keys"  # at least one operator is recomputed for its affected keys
    FIRST_BUILD = "first_build"
    REQUESTED = "requested"  # the user asked for a full refresh
    POLICY = "policy"  # ivm.refresh_policy = full
    CHEAPER = "cheaper"  # full is predicted to be faster than incremental
    UNSUPPORTED_OPERATOR = "unsupported_operator"  # the query has an operator without a rule
    HISTORY_GONE = "history_gone"  # the needed versions can no longer be read
    CHANGES_FAIL = "changes_fail"  # an expression fails for a pair of rows of before and after; a row is not found
    TABLE_REPLACED = "table_replaced"  # a base table was dropped and created again
    TIME_ZONE_CHANGED = "time_zone_changed"  # the session's time zone is another, and rows of the view depend on it
    STATE_CHANGED = "state_changed"  # the view's own table was written by something else
    FAILED = "failed"  # the batch raised an error; the view stands where it stood
    REWOUND = "rewound"  # the user asked to go back in time
    REPAIRED = "repaired"  # the view differed from its query, and was to be repaired
    PLAN_CHANGED = "plan_changed"  # the query is another, or is compiled differently by now


@dataclass(frozen=True, slots=True)
class Decision:
    """The strategy for one view and batch, with what was predicted for each side (seconds, None: unknown)."""

    strategy: Strategy
    reason: Reason
    detail: str = ""
    predicted_incremental_seconds: float | None = None
    predicted_full_seconds: float | None = None
