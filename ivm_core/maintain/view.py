"""Bring one view to a cut exactly once.

The protocol: (1) an intent row binds the batch number to exact from and to versions; (2) the batch commits to the view's
own Delta table, the number as Delta's transaction version and the versions as commit metadata, so data and progress are
one commit; (3) the intent is settled and the batch recorded. A process may die anywhere: the next run looks the number
up in the view's log and either settles the intent or runs the same intent again. Delta ignores a number that it has
seen, and refuses the second of two concurrent commits of one number.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.model import Batch, Cut
from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.engine.execute import run
from ivm_core.engine.model import Applied, CommitTag, StateTarget
from ivm_core.engine.sharing import WORK_CLOCK
from ivm_core.errors import Busy, ConcurrentCommit, DriftError, HistoryGone, QueryFails
from ivm_core.job.build import full_job
from ivm_core.job.model import MaintenanceJob, WriteKind
from ivm_core.maintain.columns import check_columns
from ivm_core.maintain.current import as_compiled, locked, mark_built
from ivm_core.maintain.decision import (
    decide_to_run,
    first_decision,
    full_instead,
    most_rows_uncounted,
    raise_where_wrong,
    rows_changed_by_table,
)
from ivm_core.maintain.next_batch import (
    begins_at,
    committed_number,
    has_arrived,
    next_batch,
    next_number,
    not_before,
    same_tables,
    still_readable,
)
from ivm_core.maintain.records import nothing_done, record_of, report_of
from ivm_core.maintain.repair import batch_in_place, way_to_repair
from ivm_core.maintain.rewind import anew, finish, go_back, is_done, where_to
from ivm_core.maintain.session import Session
from ivm_core.maintain.settle import abandon, settle
from ivm_core.maintain.standing import Standing, standing, tag_of
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import Policy
from ivm_core.settings import in_one_paragraph

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MOST_ROWS_ABOVE = 100_000  # of a state that is written anew although other views read it
MENDED = Decision(Strategy.REPAIR, Reason.REPAIRED)


def build(
    session: Session, view: ViewRecord, reason: Reason, run_id: str | None = None, cut: Cut | None = None
) -> MaintenanceReport:
    """Compute the whole state at the newest versions, or at a cut, as the view's next batch."""
    with locked(session, view) as view:
        now = settle(session, view)
        if now is not None and reason is Reason.FIRST_BUILD:
            return MaintenanceReport(view.name, Strategy.NOOP, Reason.ALREADY_CURRENT)
        view = as_compiled(session, view, now)
        return _full(session, view, now, cut or Cut(()), Decision(Strategy.FULL, reason), run_id)


def maintain_view(
    session: Session,
    view: ViewRecord,
    cut: Cut,
    policy: Policy | None = None,
    run_id: str | None = None,
) -> MaintenanceReport:
    """Bring the view to the cut, or find it there already. Raises IvmError; the view then stands where it stood."""
    started = WORK_CLOCK.now()
    with locked(session, view) as view:
        now = settle(session, view)
        unfinished = session.catalog.open_intents(view.name)
        if unfinished:
            view = as_compiled(session, view, now)
        if unfinished and now is not None and unfinished[0].strategy is Strategy.REWIND:
            finish(session, view, unfinished[0])
            now = settle(session, view)
        elif unfinished and now is not None:
            now = _finish(session, view, now, unfinished[0].batch, policy, run_id)
        if now is None:
            return _full(session, view, None, cut, first_decision(session, view, policy), run_id)
        batch = next_batch(session, view, now, cut)
        asked = policy is Policy.FULL and not is_done(session, view, run_id, Strategy.FULL)
        if not asked and has_arrived(session, view, now, batch):
            return nothing_done(view, batch, now.number, WORK_CLOCK.now() - started)
        view = as_compiled(session, view, now)
        batch = replace(batch, fingerprint=view.fingerprint)
        if policy is Policy.FULL and not now.touched:
            return _full(session, view, now, cut, Decision(Strategy.FULL, Reason.REQUESTED), run_id)
        decision = decide_to_run(session, view, now, batch, policy)
        if decision.strategy is Strategy.FULL:
            return _full(session, view, now, cut, decision, run_id)
        try:
            return _run(session, view, batch, decision, run_id)
        except (HistoryGone, QueryFails, DriftError) as error:
            raise_where_wrong(session, view, error)
            return _full(session, view, now, cut, full_instead(error, policy or Policy(view.policy)), run_id)


def rewind_view(
    session: Session, view: ViewRecord, instant: datetime, cut: Cut, policy: Policy | None, run_id: str
) -> MaintenanceReport | None:
    """Take the view back to its newest batch at or before the instant; None where it stands there, or this run did it before.

    Where that batch or what leads on from it can no longer be read, the view is computed anew at the cut, be that earlier
    than where it stands. Raises NotIncrementalError where its policy forbids that; the view then stands where it stood.
    """
    with locked(session, view) as view:
        now = settle(session, view)
        if now is None or is_done(session, view, run_id):
            return None
        view = as_compiled(session, view, now)
        target = where_to(session, view, now, instant, cut, policy)
        if isinstance(target, Standing):
            try:
                return go_back(session, view, now, target, run_id)
            except HistoryGone as error:
                target = anew(view, error, policy)
        return None if target is None else _full(session, view, now, cut, target, run_id, backwards=True)


def repair_view(session: Session, view: ViewRecord, run_id: str | None = None) -> MaintenanceReport:
    """Mend what differs from the query at the versions where the view stands; compute it anew where that cannot be.

    An open intent is abandoned: its batch would start from rows that differ.
    """
    with locked(session, view) as view:
        now = settle(session, view)
        if now is None:
            return _full(session, view, None, Cut(()), Decision(Strategy.FULL, Reason.FIRST_BUILD), run_id)
        view = as_compiled(session, view, now)
        way = way_to_repair(session, view, now)
        if isinstance(way, MaintenanceJob):
            abandon(session, view)
            try:
                return _run(session, view, batch_in_place(session, view, now), MENDED, run_id, way)
            except DriftError as error:
                way = Decision(Strategy.FULL, Reason.REPAIRED, error.message)
            except HistoryGone as error:
                way = Decision(Strategy.FULL, Reason.HISTORY_GONE, error.message)
        # Where its versions are of use no more, the newest: else the view stays where it stands.
        cut = Cut(now.versions) if way.reason is Reason.REPAIRED else Cut(())
        return _full(session, view, now, cut, way, run_id)


def _finish(
    session: Session, view: ViewRecord, now: Standing, batch: Batch, policy: Policy | None, run_id: str | None
) -> Standing | None:
    """Run a batch that was begun: its number is bound to its versions, whatever the cut says now. Return where the view stands.

    It is abandoned where these versions are gone, or are of other tables by now, and where the view stands elsewhere than
    where it begins, or has another plan: the next batch tells what that means.
    """
    if not same_tables(session, batch) or not begins_at(batch, now) or batch.fingerprint != view.fingerprint:
        abandon(session, view)
        return now
    decision = decide_to_run(session, view, now, batch, policy)
    if decision.strategy is Strategy.FULL:
        abandon(session, view)  # the next batch is one for the cut, and may be another
        return now
    try:
        _run(session, view, batch, decision, run_id)
    except (HistoryGone, DriftError) as error:
        raise_where_wrong(session, view, error)
        abandon(session, view)
    except QueryFails:
        return now  # it is abandoned already, and the next batch may have a result
    return settle(session, view)


def _full(
    session: Session,
    view: ViewRecord,
    now: Standing | None,
    cut: Cut,
    decision: Decision,
    run_id: str | None,
    *,
    backwards: bool = False,
) -> MaintenanceReport:
    """A batch that computes the whole state. It does not depend on the state before, so an open intent is abandoned.

    Tables whose versions in the cut can be read no more are taken as they are now.
    """
    abandon(session, view)
    if CLOCK in view.tables:
        _ = session.spark  # its time zone is the batch's
    cut = still_readable(session, cut)
    batch = replace(next_batch(session, view, None, cut), number=next_number(session, view, now))
    if now is not None and not backwards:
        # For a table that is still the same.
        batch = replace(batch, ranges=tuple(not_before(session, item, now) for item in batch.ranges))
    return _run(session, view, batch, decision, run_id)


def _run(
    session: Session,
    view: ViewRecord,
    batch: Batch,
    decision: Decision,
    run_id: str | None,
    repair: MaintenanceJob | None = None,
) -> MaintenanceReport:
    now, full = standing(session, view), decision.strategy is Strategy.FULL
    if not full and not begins_at(batch, now):
        raise Busy(
            f"Another run has brought {view.name} elsewhere in this very moment. Nothing was written. Run again."
        )
    # A query that was compiled for the columns as they are now is what mends a change of them.
    anew = decision.reason is Reason.PLAN_CHANGED or (now is not None and now.fingerprint != view.fingerprint)
    check_columns(session, view, None if anew else now)
    committed = committed_number(session, view, now)
    intent = session.catalog.open_intent(
        view.view_id, view.name, batch, decision.strategy, decision.reason, run_id, committed=committed
    )
    if intent.batch != batch:
        raise Busy(f"Another run began batch {intent.number} of {view.name} in this very moment. Run again.")
    compiled = session.compiled(view)
    job = repair or (
        full_job(compiled, decision.reason)
        if full
        else replace(session.job(view, batch.changed), strategy=decision.strategy, reason=decision.reason)
    )
    spark = session.spark  # a batch's time does not count the start of a session
    started_at, started = datetime.now(UTC), WORK_CLOCK.now()
    kept = job.to_json() if session.settings.limits.keep_jobs else None
    before = session.shared_seconds
    try:
        changed_rows = {} if full else rows_changed_by_table(session, batch)
        # A repair computes the whole query, though no row of a table changed, and mends the rows that are there by now.
        most = None if repair else sum(changed_rows.values()) + most_rows_uncounted(session, batch)
        adds_to = None if full or now is None else now.newest if repair else now.state_version
        tag = tag_of(view, batch, run_id, session.time_zone, started_at=adds_to)
        applied = _execute(session, spark, view, job, batch, tag, most)
    except ConcurrentCommit:
        # Another run committed this very batch, or a later one: then the view is where this batch would have brought it.
        now = settle(session, view)
        if now is None or now.number < batch.number:
            raise
        return MaintenanceReport(
            view.name,
            Strategy.NOOP,
            Reason.APPLIED_ELSEWHERE,
            batch.from_versions,
            batch.to_versions,
            batch=batch.number,
        )
    except Exception as error:
        record = record_of(view, batch, decision, started_at, started, run_id, kept, error=in_one_paragraph(error))
        # Rows of these versions would fail again, whatever they are mended by: the next batch must reach further.
        session.catalog.add_batch(record, settle="abandoned" if isinstance(error, QueryFails) else None)
        raise
    if applied.skipped:
        decision = Decision(Strategy.NOOP, Reason.APPLIED_ELSEWHERE)
    rows = applied.inserted + applied.updated + applied.deleted
    shared = session.shared_seconds - before
    # What commits do not count, as RESTORE's, stays uncounted: other batches are not predicted from one that reads all rows
    # of the files which were moved, to find the few that changed.
    record = record_of(
        view, batch, decision, started_at, started, run_id, kept, rows=rows, changed=changed_rows, shared_seconds=shared
    )
    session.catalog.add_batch(record, settle="applied")
    mark_built(session, view)
    return report_of(record, shared)


def _execute(
    session: Session,
    spark: SparkSession,
    view: ViewRecord,
    job: MaintenanceJob,
    batch: Batch,
    tag: CommitTag,
    changed_rows: int | None,
) -> Applied:
    relations = session.relations(view)
    target, settings = StateTarget(view.name, view.location), session.settings
    if job.write.kind is not WriteKind.OVERWRITE and session.catalog.dependants(view.name):
        # Rewritten whole, it gives the views above it all of its rows as changes to net.
        fewer = min(settings.limits.replace_rows, MOST_ROWS_ABOVE)
        settings = settings.model_copy(update={"limits": settings.limits.model_copy(update={"replace_rows": fewer})})
    with session.shared_reads() as changes:
        return run(spark, job, batch, relations, target, changes, tag, settings, changed_rows=changed_rows)
