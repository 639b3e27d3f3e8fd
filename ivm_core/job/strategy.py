"""Which strategy a view's batches have when nothing forbids or outprices it, and why."""

from __future__ import annotations

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.linearity import Rule, classify
from ivm_core.delta.state import StateKind, StateLayout
from ivm_core.job.compile import CompiledView


def strategy_of(compiled: CompiledView) -> tuple[Strategy, Reason, str]:
    """The strategy of a batch in which every base table changed. Raises NoRule where an operator has no rule."""
    differentiate(compiled.plan, frozenset(compiled.tables))
    return incremental_strategy(compiled.layout)


def incremental_strategy(layout: StateLayout) -> tuple[Strategy, Reason, str]:
    """INCREMENTAL where weights alone suffice, AFFECTED where something is recomputed for its keys, and what."""
    if layout.kind is StateKind.RECOMPUTED_GROUPS:
        return Strategy.AFFECTED, Reason.AFFECTED_KEYS, layout.reason
    source = layout.aggregate.source if layout.aggregate else layout.stored
    recomputed = [r for r in classify(source) if r.rule in (Rule.AFFECTED_KEYS, Rule.WHOLE)]
    if recomputed:
        return Strategy.AFFECTED, Reason.AFFECTED_KEYS, f"{recomputed[0].operator}: {recomputed[0].reason}"
    return Strategy.INCREMENTAL, Reason.LINEAR, ""
