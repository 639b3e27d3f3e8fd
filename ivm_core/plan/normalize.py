"""One spelling for each meaning: rules that make plans of equal queries equal and put conditions where they belong."""

from __future__ import annotations

from ivm_core.plan.fixpoint import fixpoint
from ivm_core.plan.nodes import Plan
from ivm_core.plan.normalize_conditions import spell_condition
from ivm_core.plan.normalize_filters import drop_true_filter, merge_filters, push_filter, push_join_condition
from ivm_core.plan.normalize_joins import (
    connect_joins,
    drop_distinct_right,
    left_from_right_join,
    tighten_outer_join,
)
from ivm_core.plan.normalize_shapes import (
    drop_distinct_over_groups,
    drop_empty_branch,
    drop_identity,
    flatten_unions,
    merge_projects,
)
from ivm_core.plan.prune import prune
from ivm_core.plan.rewrite import Rule

RULES: tuple[Rule, ...] = (
    spell_condition,
    drop_true_filter,
    merge_filters,
    merge_projects,
    drop_identity,
    flatten_unions,
    drop_empty_branch,
    drop_distinct_over_groups,
    left_from_right_join,
    # Before filters sink: once below an outer join they no longer tell that its NULLs are rejected.
    tighten_outer_join,
    push_filter,
    push_join_condition,
    drop_distinct_right,
    connect_joins,
)


def normalize(plan: Plan) -> Plan:
    """An equal plan in one spelling, with the same columns in the same order; normalising it again changes nothing."""
    names = frozenset(plan.names)
    for _ in range(20):
        normal = prune(fixpoint(plan, RULES), names)
        if normal == plan:
            return plan
        plan = normal
    raise RuntimeError("normalisation does not come to rest")
