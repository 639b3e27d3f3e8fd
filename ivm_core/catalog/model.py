"""What the catalogue takes and returns: immutable records, times in UTC with their zone."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ivm_core.batch.model import Batch, Cut, TableVersion
from ivm_core.cost.model import Reason, Strategy
from ivm_core.plan.definition import Policy


class LifeStage(StrEnum):
    """Where a view is in its life. A dropped view keeps its history; its name is free."""

    CREATING = "creating"
    ACTIVE = "active"
    DRIFTED = "drifted"
    DROPPED = "dropped"


class IntentState(StrEnum):
    """What became of a numbered batch. The number of an abandoned one is not used again."""

    OPEN = "open"
    APPLIED = "applied"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A base table. ``foreign_keys``: (columns, other table, its columns). Keys are declared, not checked."""

    name: str
    table_id: str
    location: str
    columns: tuple[tuple[str, str], ...] = ()  # name, Spark type
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """A view. ``tables``: the base tables and upstream views that it reads; ``location``: its state table's."""

    view_id: str  # uuid; also Delta's txnAppId
    name: str
    sql: str
    group: str
    schedule: str | None
    policy: Policy
    fingerprint: str
    columns: tuple[tuple[str, str], ...]
    tables: tuple[str, ...]
    location: str
    status: LifeStage
    created_at: datetime
    comment: str = ""
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Intent:
    """The promise, written before anything is computed, that ``number`` means exactly ``batch``."""

    view_id: str
    view: str
    number: int
    batch: Batch
    strategy: Strategy
    reason: Reason
    state: IntentState
    created_at: datetime
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One attempt at a batch, with what the cost model learns from; ``changed_rows``: rows of change by table.

    ``number`` is 0 for a run that needed no batch. ``job`` is the job's JSON, kept when the settings ask for it.
    """

    view: str
    number: int
    strategy: Strategy
    reason: Reason
    started_at: datetime
    finished_at: datetime
    detail: str = ""
    from_versions: dict[str, int] = field(default_factory=dict)
    to_versions: dict[str, int] = field(default_factory=dict)
    rows_changed: int = 0
    seconds: float = 0.0
    predicted_incremental_seconds: float | None = None
    predicted_full_seconds: float | None = None
    changed_rows: dict[str, int] = field(default_factory=dict)
    state_rows: int | None = None
    error: str | None = None
    run_id: str | None = None
    job: str | None = None

    @property
    def succeeded(self) -> bool:
        """True where the view stands at ``to_versions`` since: at none where it reads no table."""
        return self.error is None and (self.number > 0 or bool(self.to_versions))


@dataclass(frozen=True, slots=True)
class ValidationRecord:
    """A comparison of a view with its query at the same versions; ``sample``: differing rows and coverage as JSON."""

    view: str
    batch_number: int
    ok: bool
    missing_count: int
    unexpected_count: int
    rows: int
    versions: dict[str, int]
    seconds: float
    checked_at: datetime
    full_seconds: float | None = None
    run_id: str | None = None
    sample: str = "[]"

    @property
    def coverage(self) -> float:
        """The share of the view that was compared; the counts are of it."""
        found = json.loads(self.sample)
        return float(found.get("coverage", 1.0)) if isinstance(found, dict) else 1.0


@dataclass(frozen=True, slots=True)
class CutRecord:
    """The cut of one run of a group. ``states``: the state tables' versions that show all views at that cut.

    ``published_at`` is None until every view of the run stands at the cut.
    """

    group: str
    run_id: str
    cut: Cut
    created_at: datetime
    states: tuple[TableVersion, ...] = ()
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ViewActivity:
    """A view with what ``status`` shows of it. ``last_batch``: the newest that succeeded; ``last_attempt``: of all."""

    view: ViewRecord
    last_batch: BatchRecord | None = None
    last_attempt: BatchRecord | None = None
    last_validation: ValidationRecord | None = None
    open_intent: Intent | None = None
