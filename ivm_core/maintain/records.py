"""The catalogue's record of a batch: of one that ran here, and of one whose process died after its commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.model import Batch
from ivm_core.catalog.model import BatchRecord, Intent, ViewRecord
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.engine.sharing import WORK_CLOCK
from ivm_core.errors import IvmError
from ivm_core.settings import in_one_paragraph


def record_of(
    view: ViewRecord,
    batch: Batch,
    decision: Decision,
    started_at: datetime,
    started: float,
    run_id: str | None,
    job: str | None,
    *,
    rows: int = 0,
    changed: Mapping[str, int] | None = None,
    error: str | None = None,
    shared_seconds: float = 0.0,
) -> BatchRecord:
    """The record of an attempt that began at ``started`` (by WORK_CLOCK) and ends now, less what others share.

    ``changed``: rows of change by table, as commits count them.
    """
    return BatchRecord(
        view=view.name,
        number=batch.number,
        strategy=decision.strategy,
        reason=decision.reason,
        detail=decision.detail,
        from_versions=batch.from_versions,
        to_versions=batch.to_versions,
        rows_changed=rows,
        seconds=WORK_CLOCK.now() - started - shared_seconds,
        predicted_incremental_seconds=decision.predicted_incremental_seconds,
        predicted_full_seconds=decision.predicted_full_seconds,
        started_at=started_at,
        finished_at=datetime.now(UTC),
        changed_rows=dict(changed or {}),
        error=error,
        run_id=run_id,
        job=job,
    )


def nothing_done(view: ViewRecord, batch: Batch, number: int, seconds: float) -> MaintenanceReport:
    """What the caller is told where no base table has changes; ``number``: of the view's newest batch."""
    moved = batch.from_versions != batch.to_versions
    reason = Reason.NO_CHANGES if moved else Reason.ALREADY_CURRENT
    return MaintenanceReport(
        view.name, Strategy.NOOP, reason, batch.from_versions, batch.to_versions, 0, seconds, number
    )


def report_of(record: BatchRecord, shared_seconds: float = 0.0) -> MaintenanceReport:
    """What the caller of a batch is told: the same that the catalogue keeps."""
    return MaintenanceReport(
        record.view,
        record.strategy,
        record.reason,
        record.from_versions,
        record.to_versions,
        record.rows_changed,
        record.seconds,
        record.number,
        record.detail,
        record.predicted_incremental_seconds,
        record.predicted_full_seconds,
        shared_seconds=shared_seconds,
    )


def recovered(intent: Intent) -> BatchRecord:
    """The record of a batch whose process died between its commit and this bookkeeping."""
    return BatchRecord(
        view=intent.view,
        number=intent.number,
        strategy=intent.strategy,
        reason=intent.reason,
        detail="committed by a process that ended before recording it",
        from_versions=intent.batch.from_versions,
        to_versions=intent.batch.to_versions,
        rows_changed=0,
        seconds=0.0,
        predicted_incremental_seconds=None,
        predicted_full_seconds=None,
        started_at=intent.created_at,
        finished_at=datetime.now(UTC),
        changed_rows={},
        error=None,
        run_id=intent.run_id,
        job=None,
    )


def told(error: Exception) -> str:
    """What an error says, as a run's report tells it: the message of one of this package, of others the kind too."""
    return error.message if isinstance(error, IvmError) else in_one_paragraph(error)
