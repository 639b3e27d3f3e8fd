"""What a view's next batch would be and cost, before anything runs."""

from __future__ import annotations

from ivm_core.catalog.model import BatchRecord, ViewRecord
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.maintain.decision import decide_batch, rows_changed_by_table
from ivm_core.maintain.group import make_cut
from ivm_core.maintain.model import Forecast, Foretold
from ivm_core.maintain.next_batch import needs_batch, next_batch
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import standing

SHOWN = 10  # earlier batches


def forecast(session: Session, view: ViewRecord) -> Forecast:
    """The decision for a batch up to the newest versions. Raises NotIncrementalError where the policy forbids it."""
    cut, now = make_cut(session, [view]), standing(session, view)
    rows: dict[str, int] = {}
    if now is None:
        decision = Decision(Strategy.FULL, Reason.FIRST_BUILD)
    elif not needs_batch(session, view, cut):
        decision = Decision(Strategy.NOOP, Reason.ALREADY_CURRENT)
    else:
        batch = next_batch(session, view, now, cut)
        rows = rows_changed_by_table(session, batch)
        decision = decide_batch(session, view, now, batch, None)
    past = (batch for batch in session.catalog.history(view.name, SHOWN) if batch.succeeded and batch.seconds)
    return Forecast(
        view.name,
        decision.strategy,
        decision.reason,
        decision.detail,
        rows,
        decision.predicted_incremental_seconds,
        decision.predicted_full_seconds,
        tuple(_foretold(batch) for batch in past),
    )


def _foretold(batch: BatchRecord) -> Foretold:
    full = batch.strategy == Strategy.FULL
    predicted = batch.predicted_full_seconds if full else batch.predicted_incremental_seconds
    return Foretold(batch.number, batch.strategy, sum(batch.changed_rows.values()), batch.seconds, predicted)
