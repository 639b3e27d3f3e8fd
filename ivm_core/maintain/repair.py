"""How a view that differs from its query is repaired: by the rows that differ where that can be, else anew, and why."""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.job.model import MaintenanceJob
from ivm_core.maintain.decision import made_of_others
from ivm_core.maintain.next_batch import next_batch, next_number
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing
from ivm_core.validate.repair_job import repair_job


def way_to_repair(session: Session, view: ViewRecord, now: Standing) -> MaintenanceJob | Decision:
    """The job that mends what differs, or the decision to compute the view anew, with the reason that is stored."""
    _ = session.spark  # its time zone is known once it is open
    anew = made_of_others(session, view, now, next_batch(session, view, now, Cut(())))
    if anew is not None:
        return anew
    checked, most = session.catalog.last_validation(view.name), session.settings.limits.repair_rows
    differing = 0
    if checked and not checked.ok:
        differing = round((checked.missing_count + checked.unexpected_count) / checked.coverage)
    if differing > most:
        return Decision(Strategy.FULL, Reason.REPAIRED, f"{differing} rows differ, more than {most}")
    job = repair_job(session.compiled(view))
    return job or Decision(Strategy.FULL, Reason.REPAIRED, "the state is one group, or has variants")


def batch_in_place(session: Session, view: ViewRecord, now: Standing) -> Batch:
    """The view's next batch, in which no table moves: from the versions that the view stands at to the same."""
    return Batch(view.name, next_number(session, view, now), still(now.versions), now.fingerprint)


def still(versions: Iterable[TableVersion]) -> tuple[TableRange, ...]:
    """The empty range of every table at its version."""
    return tuple(TableRange(v.table, v.table_id, v.version, v.version, CommitClass.NOOP) for v in versions)
