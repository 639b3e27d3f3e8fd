"""What a group run is going to read, told before its views run: one scan of a large table can then serve them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ivm_core.batch.model import Cut, TableRange
from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Strategy
from ivm_core.engine.model import Relation
from ivm_core.engine.slices import Expected
from ivm_core.errors import IvmError
from ivm_core.job.model import Slice
from ivm_core.maintain.decision import decide_batch
from ivm_core.maintain.next_batch import next_batch
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import standing
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import Policy
from ivm_core.plan.join_graph import JoinEdge, join_edges


def expected_reads(session: Session, views: Sequence[ViewRecord], cut: Cut, policy: Policy | None) -> Expected:
    """The joins of the views that will be maintained incrementally, with the ranges of the tables they read.

    Only a forecast: what a view asks for in the end is what counts, whatever was expected.
    """
    edges: set[JoinEdge] = set()
    ranges: dict[str, TableRange] = {}
    relations: dict[str, Relation] = {}
    readers: Counter[str] = Counter()
    looked_up: set[str] = set()
    for view in views:
        try:
            now = standing(session, view)
            if now is None:
                continue
            batch = next_batch(session, view, now, cut)
            if not batch.changed or decide_batch(session, view, now, batch, policy).strategy is Strategy.FULL:
                continue
            base = {item.table: item for item in batch.ranges if _is_base_table(session, item.table)}
            relations |= {name: session.relation(name) for name in base if name not in relations}
        except IvmError:
            continue  # its own run will tell
        ranges = {**base, **ranges}
        readers.update(base.keys())
        if any(item.slice is not Slice.CHANGES for item in session.job(view, batch.changed).inputs):
            looked_up |= batch.changed
        edges |= {e for e in join_edges(session.compiled(view).plan) if e.table in base and e.other in base}
    return Expected(tuple(sorted(edges)), ranges, relations, dict(session.facts(ranges)), readers, frozenset(looked_up))


def _is_base_table(session: Session, name: str) -> bool:
    return name != CLOCK and session.catalog.find_view(name) is None
