"""Go back in time: bring a view to an earlier batch, exactly once, from where the run then replays.

Going back is a batch of its own, with a number, an intent and one tagged commit, as in ``view``: the number is bound to
the versions that the earlier batch ended at, and the commit makes the view's rows those of that batch.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange
from ivm_core.catalog.model import Intent, ViewRecord
from ivm_core.cost.decide import decide
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.cost.statistics import Statistics
from ivm_core.engine.model import StateTarget
from ivm_core.engine.restore import restore
from ivm_core.engine.sharing import WORK_CLOCK
from ivm_core.errors import Busy, HistoryGone
from ivm_core.maintain.decision import decide_batch
from ivm_core.maintain.next_batch import next_batch, next_number
from ivm_core.maintain.past import known_now, stood_before
from ivm_core.maintain.records import record_of, report_of
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, standings, tag_of
from ivm_core.plan.definition import Policy

ATTEMPTS = 100  # batches looked through for what this run has done already


def where_to(
    session: Session, view: ViewRecord, now: Standing, instant: datetime, cut: Cut, policy: Policy | None
) -> Standing | Decision | None:
    """The standing to go back to; the decision to be full instead, and why; None where the view has not passed the instant.

    Raises NotIncrementalError where it would have to be full and the policy forbids that: nothing is written then.
    """
    try:
        past = stood_before(session, view, instant)
    except HistoryGone as error:
        return anew(view, error, policy)
    if past.number == now.number and not now.touched:
        return None
    known = known_now(session, past)
    replay = next_batch(session, view, known, cut)
    if replay.changed:
        # Known before anything is written: going back to where no batch leads on would only lose time.
        decision = decide_batch(session, view, known, replay, policy)
        if decision.strategy is Strategy.FULL:
            return decision
    return known


def anew(view: ViewRecord, gone: HistoryGone, policy: Policy | None) -> Decision:
    """The decision to compute the view from its whole query instead. Raises NotIncrementalError where the policy forbids it."""
    full = Decision(Strategy.FULL, Reason.HISTORY_GONE, gone.message)
    return decide(policy or Policy(view.policy), full, Statistics())


def go_back(session: Session, view: ViewRecord, now: Standing, past: Standing, run_id: str | None) -> MaintenanceReport:
    """Make the view's rows those that it had at ``past``, as its next batch. An open intent is abandoned."""
    for intent in session.catalog.open_intents(view.name):
        session.catalog.settle_intent(view.view_id, intent.number, "abandoned")
    batch = Batch(view.name, next_number(session, view, now), _ranges(now, past), past.fingerprint)
    intent = session.catalog.open_intent(
        view.view_id, view.name, batch, Strategy.REWIND, Reason.REWOUND, run_id, committed=now.number
    )
    if intent.batch != batch:
        raise Busy(f"Another run began batch {intent.number} of {view.name} in this very moment. Run again.")
    return _commit(session, view, intent, past)


def finish(session: Session, view: ViewRecord, intent: Intent) -> None:
    """Go on with an intent to go back whose process died; give it up where the way back is gone since."""
    wanted = intent.batch.to_versions
    with suppress(HistoryGone):
        for past in standings(session, view):
            same_query = past.fingerprint == intent.batch.fingerprint
            if same_query and {item.table: item.version for item in known_now(session, past).versions} == wanted:
                _commit(session, view, intent, past)
                return
    session.catalog.settle_intent(view.view_id, intent.number, "abandoned")


def is_done(session: Session, view: ViewRecord, run_id: str | None, strategy: Strategy | None = None) -> bool:
    """Whether the run has brought the view somewhere before, by this strategy or by any: tried again, it only goes on."""
    attempts = session.catalog.history(view.name, ATTEMPTS) if run_id is not None else ()
    done = (attempt for attempt in attempts if attempt.run_id == run_id and attempt.succeeded and attempt.number)
    return any(strategy is None or attempt.strategy is strategy for attempt in done)


def joined(back: MaintenanceReport | None, replay: MaintenanceReport) -> MaintenanceReport:
    """One report for going back and replaying; of either alone where the other had nothing to do."""
    if back is None:
        return replay
    if replay.strategy is Strategy.NOOP:
        return back
    detail = "; ".join(part for part in (back.detail, replay.detail) if part)
    return replace(replay, detail=detail, seconds=back.seconds + replay.seconds)


def _commit(session: Session, view: ViewRecord, intent: Intent, past: Standing) -> MaintenanceReport:
    batch = intent.batch
    started_at, started = datetime.now(UTC), WORK_CLOCK.now()
    source = past.state_version
    tag = tag_of(view, batch, intent.run_id, past.time_zone, restored=source)
    decision = Decision(Strategy.REWIND, Reason.REWOUND, f"went back to batch {past.number}")
    if not restore(lambda: session.spark, StateTarget(view.name, view.location), source, tag):
        decision = Decision(Strategy.NOOP, Reason.APPLIED_ELSEWHERE)
    record = record_of(view, batch, decision, started_at, started, intent.run_id, None)
    session.catalog.add_batch(record, settle="applied")
    return report_of(record)


def _ranges(now: Standing, past: Standing) -> tuple[TableRange, ...]:
    ranges = []
    for item in past.versions:
        start = now.of(item.table)
        before = start.version if start is not None and start.table_id == item.table_id else -1
        ranges.append(TableRange(item.table, item.table_id, before, item.version, CommitClass.REPLACED))
    return tuple(ranges)
