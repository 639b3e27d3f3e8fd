"""Gather what the decision weighs, and decide how one batch is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ivm_core.batch.model import Batch, Commit
from ivm_core.batch.volume import changed_rows, counts_no_rows
from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.decide import decide
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.cost.statistics import PastBatch, Statistics
from ivm_core.errors import DriftError, HistoryGone, NoRule, QueryFails
from ivm_core.job.model import MaintenanceJob, Slice
from ivm_core.job.strategy import incremental_strategy
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import Policy, parse_definition
from ivm_core.plan.time_zone import depends_on_time_zone

BATCHES, REFRESHES = 12, 3  # so many measured ones of either kind are looked at: neither is forgotten while not chosen


def decide_to_run(session: Session, view: ViewRecord, now: Standing, batch: Batch, policy: Policy | None) -> Decision:
    """The decision for a batch that is going to run: the session is opened, so that its time zone is known."""
    _ = session.spark
    return decide_batch(session, view, now, batch, policy)


def decide_batch(session: Session, view: ViewRecord, now: Standing, batch: Batch, policy: Policy | None) -> Decision:
    """The decision for a batch with changes. Raises NotIncrementalError where the policy forbids what it would be."""
    compiled = session.compiled(view)
    obstacle = _obstacle(session, view, now, batch)
    try:
        job = session.job(view, batch.changed)
        incremental = Decision(*incremental_strategy(compiled.layout))
        obstacle = obstacle or _history_gone(session, batch, job)
    except NoRule as error:
        incremental = Decision(Strategy.FULL, Reason.UNSUPPORTED_OPERATOR, str(error))
    return decide(policy or Policy(view.policy), incremental, _statistics(session, view, batch), obstacle)


def full_instead(error: HistoryGone | QueryFails | DriftError, policy: Policy) -> Decision:
    """The full batch in the place of one that failed so. Raises NotIncrementalError, or the failure, where it is forbidden."""
    if isinstance(error, HistoryGone):
        return decide(policy, Decision(Strategy.FULL, Reason.HISTORY_GONE, error.message), Statistics())
    # A delta's terms also join rows of before with rows of after, and an expression may fail for such a pair: whether the
    # query has a result, only the query tells.
    if policy is Policy.INCREMENTAL_STRICT:
        raise error
    return Decision(Strategy.FULL, Reason.CHANGES_FAIL, error.message)


def raise_where_wrong(session: Session, view: ViewRecord, error: Exception) -> None:
    """Raise a DriftError, unless the state may be right all the same.

    What large floating-point numbers of either sign leave of each other has other digits each time that it is computed, and
    a row with such a number may not be found again.
    """
    if isinstance(error, DriftError) and not session.compiled(view).approximate_in_state:
        raise error


def first_decision(session: Session, view: ViewRecord, policy: Policy | None) -> Decision:
    """The first build; a refresh where the state is there, and its log no longer holds the commit that tells where it stands.

    Raises NotIncrementalError where the policy forbids that.
    """
    if not session.has_table(view.location) or session.log(view.location).transaction_version(view.view_id) is None:
        return Decision(Strategy.FULL, Reason.FIRST_BUILD)
    gone = HistoryGone(f"the log of {view.name}'s own table no longer holds the commit of its last batch")
    return full_instead(gone, policy or Policy(view.policy))


def _obstacle(session: Session, view: ViewRecord, now: Standing, batch: Batch) -> Decision | None:
    """What forbids an incremental batch, whatever the query."""
    if now.touched:
        return Decision(Strategy.FULL, Reason.STATE_CHANGED, "the view's own table was written by something else")
    return made_of_others(session, view, now, batch)


def made_of_others(session: Session, view: ViewRecord, now: Standing, batch: Batch) -> Decision | None:
    """The full refresh of a view whose state is of another query, time zone or table than its next batch; None where it is not.

    Of a time zone that is not known yet, since the session is not open, only what the batch says counts.
    """
    if now.fingerprint != view.fingerprint:
        return Decision(Strategy.FULL, Reason.PLAN_CHANGED, "the stored state belongs to another form of the query")
    if is_of_another_zone(session, view, now):
        detail = f"the session's time zone is {session.time_zone}, it was {now.time_zone} before"
        return Decision(Strategy.FULL, Reason.TIME_ZONE_CHANGED, detail)
    for item in batch.ranges:
        if item.table == CLOCK and (item.from_version < 0 or item.table_id != _opened_time_zone(session)):
            return Decision(Strategy.FULL, Reason.TIME_ZONE_CHANGED, "the session has another time zone than before")
        if item.from_version < 0:
            above_view = session.catalog.find_view(item.table) is not None
            of_a_table = "was dropped and created again, or put back by a copy"
            what = "was built anew or shows other rows" if above_view else of_a_table
            return Decision(Strategy.FULL, Reason.TABLE_REPLACED, f"{item.table} {what}")
    return None


def is_of_another_zone(session: Session, view: ViewRecord, now: Standing) -> bool:
    """Whether the view's rows are those of another time zone than the session's, as far as that is known."""
    if now.time_zone is None or session.time_zone in (None, now.time_zone):
        return False
    return depends_on_time_zone(session.compiled(view).plan, parse_definition(view.sql).query)


def _opened_time_zone(session: Session) -> str | None:
    _ = session.spark
    return session.time_zone


def _history_gone(session: Session, batch: Batch, job: MaintenanceJob) -> Decision | None:
    """Delta refuses to read versions past the retention of deleted files, so this is known before any work."""
    before = {i.table for i in (*job.inputs, *job.write.recompute_inputs) if i.slice is Slice.BEFORE}
    for item in batch.ranges:
        if item.empty or item.table == CLOCK:
            continue
        oldest_needed = item.from_version if item.table in before else item.from_version + 1
        log = session.table_log(item.table)
        if not log.is_readable(oldest_needed):
            detail = (
                f"{item.table} version {oldest_needed} is past its retention; "
                f"the oldest readable one is {log.earliest_readable()}"
            )
            return Decision(Strategy.FULL, Reason.HISTORY_GONE, detail)
    return None


def _statistics(session: Session, view: ViewRecord, batch: Batch) -> Statistics:
    rows = rows_changed_by_table(session, batch)
    past = tuple(
        PastBatch(
            record.strategy == Strategy.FULL,
            _size(record.changed_rows),
            record.seconds,
            _work(session, view, frozenset(record.changed_rows)),
            record.reason == Reason.FIRST_BUILD,
            record.number,
        )
        for record in session.catalog.measured(view.name, BATCHES, REFRESHES)
        # A batch in which time moved takes what the rows that it moves take, whatever rows changed.
        if record.strategy == Strategy.FULL or (CLOCK in record.changed_rows) is (CLOCK in rows)
    )
    tables = [facts for _, facts in session.facts(batch.to_versions)]
    base = None if any(facts.rows is None for facts in tables) else sum(facts.size for facts in tables)
    return Statistics(
        past, sum(rows.values()) + _rows_uncounted(session, batch), base, _work(session, view, frozenset(rows))
    )


def _size(changed: Mapping[str, int]) -> int:
    """The changed rows of a batch, 0 for not known: where the commits of one of its tables count none, as RESTORE's."""
    counted = [rows for table, rows in changed.items() if table != CLOCK]
    return sum(counted) if all(counted) else 0


def _work(session: Session, view: ViewRecord, changed: frozenset[str]) -> float:
    """How many relations the job for these changed tables opens and computes; 0 where there is no such job."""
    if not changed or not changed <= set(view.tables):
        return 0.0
    try:
        job = session.job(view, changed)
    except NoRule:
        return 0.0
    return float(len(job.inputs) + len(job.steps))


def rows_changed_by_table(session: Session, batch: Batch) -> dict[str, int]:
    """Rows of change in the batch, by base table, as commit metrics tell; 0 where one of them does not, and for the clock."""
    clock = {item.table: 0 for item in batch.ranges if item.table == CLOCK and not item.empty}
    return {table: _counted(session.table_log(table).commits(*between)) for table, between in _versions(batch)} | clock


def _counted(commits: Sequence[Commit]) -> int:
    return 0 if any(map(counts_no_rows, commits)) else changed_rows(commits)


def _versions(batch: Batch) -> list[tuple[str, tuple[int, int]]]:
    """Each changed table with the version that the batch begins after and the one that it ends with."""
    changed = (item for item in batch.ranges if item.table != CLOCK and not item.empty)
    return [(item.table, (item.from_version, item.to_version)) for item in changed]


def most_rows_uncounted(session: Session, batch: Batch) -> int:
    """At most so many rows of tables changed beside those that commits count, or can a moved clock concern."""
    concerned = (facts.size for _, facts in session.facts(batch.to_versions)) if CLOCK in batch.changed else ()
    return _rows_uncounted(session, batch) + sum(concerned)


def _rows_uncounted(session: Session, batch: Batch) -> int:
    """What a RESTORE changed is in the files that it moved: all of their rows are read for it."""
    return sum(session.table_log(table).moved_rows(*versions) for table, versions in _versions(batch))
