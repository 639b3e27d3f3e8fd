"""Batches that were begun: what becomes of those whose process died."""

from __future__ import annotations

from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Strategy
from ivm_core.maintain.current import mark_built
from ivm_core.maintain.records import recovered
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, standing


def settle(session: Session, view: ViewRecord) -> Standing | None:
    """Finish the bookkeeping of a batch whose process died after its commit; return where the view stands."""
    now = standing(session, view)
    for intent in session.catalog.open_intents(view.name):
        if now is not None and now.number >= intent.number:
            session.catalog.add_batch(recovered(intent), settle="applied")
        elif intent.strategy is Strategy.REPAIR:
            # What differed still does, and the next validation finds it.
            session.catalog.settle_intent(view.view_id, intent.number, "abandoned")
    if now is not None:
        mark_built(session, view)
    return now


def abandon(session: Session, view: ViewRecord) -> None:
    for intent in session.catalog.open_intents(view.name):
        session.catalog.settle_intent(view.view_id, intent.number, "abandoned")
