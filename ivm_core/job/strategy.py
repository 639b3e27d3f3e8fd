"""Which strategy a view's batches have when nothing forbids or outprices it, and why."""

from __future__ import annotations

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.linearity import Rule, classify, rule_name
from ivm_core.delta.reasons import Code
from ivm_core.delta.state import StateKind, StateLayout
from ivm_core.errors import NoRule
from ivm_core.job.compile import CompiledView
from ivm_core.plan.comparable import as_comparable
from ivm_core.plan.inexact import decided_by_sums, unmatched_columns
from ivm_core.plan.nodes import column
from ivm_core.plan.schema import types_of


def strategy_of(compiled: CompiledView) -> tuple[Strategy, Reason, str]:
    """The strategy of a batch in which every base table changed. Raises NoRule where an operator has no rule."""
    differentiate(compiled.plan, frozenset(compiled.tables))
    check_rows_match(compiled.layout)
    return incremental_strategy(compiled.layout)


def incremental_strategy(layout: StateLayout) -> tuple[Strategy, Reason, str]:
    """INCREMENTAL where weights alone suffice, AFFECTED where something is recomputed for its keys, and what."""
    if layout.kind is StateKind.RECOMPUTED_GROUPS or layout.code is Code.DISTINCT_VALUES:
        return Strategy.AFFECTED, Reason.AFFECTED_KEYS, layout.reason
    recomputed = [r for r in classify(layout.source) if r.rule in (Rule.AFFECTED_KEYS, Rule.WHOLE)]
    if recomputed:
        return Strategy.AFFECTED, Reason.AFFECTED_KEYS, f"{recomputed[0].operator}: {recomputed[0].reason}"
    return Strategy.INCREMENTAL, Reason.LINEAR, ""


def check_rows_match(layout: StateLayout) -> None:
    """Raise NoRule where rows to take away from a bag could not be found."""
    if (found := unmatched_column(layout)) is not None:
        name, reason, _ = found
        raise NoRule(name, reason)


def unmatched_column(layout: StateLayout) -> tuple[str, str, Code] | None:
    """The column by which rows of a bag cannot be found again, or what decides which rows it has, and why.

    A text of a floating-point sum is another one after another evaluation, and no text is near to another. Nor do two
    evaluations agree about ``sum(x) > 0.6``: a batch would take away a row that is not stored, or leave one that is.
    """
    if layout.kind is not StateKind.BAG:
        return None
    for name, type_ in types_of(layout.stored).items():
        if as_comparable(column(name), type_) is None:
            return name, f"rows with a {type_} cannot be told from one another", Code.NO_RULE
    for name in unmatched_columns(layout.stored):
        return (
            name,
            "it is made of floating-point sums, and is not known to be a number of that kind",
            Code.FLOATING_SUM,
        )
    if (node := decided_by_sums(layout.stored)) is not None:
        return rule_name(node), "a floating-point sum decides which rows there are", Code.FLOATING_SUM
    return None
