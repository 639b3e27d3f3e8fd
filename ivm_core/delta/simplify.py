"""Delta plans made cheap by separate passes, each of which keeps the meaning.

The rules hold for ordinary plans too. A query simplified before it is differentiated has the smaller delta: an outer
join that a filter makes inner is linear, and keys are affected only by changes of columns that the query reads.
"""

from __future__ import annotations

from ivm_core.delta.simplify_columns import prune_columns
from ivm_core.delta.simplify_filters import push_filter, push_join_condition
from ivm_core.delta.simplify_joins import reorder_joins
from ivm_core.delta.simplify_keys import push_restriction, split_restriction, transfer_restriction
from ivm_core.delta.simplify_outer import tighten_outer_join
from ivm_core.delta.simplify_projects import drop_identity, merge_filters, merge_projects, pull_up_project
from ivm_core.delta.simplify_terms import cancel_opposite, drop_empty, merge_unions, net_once
from ivm_core.plan.fixpoint import fixpoint
from ivm_core.plan.nodes import Plan
from ivm_core.plan.rewrite import Rule
from ivm_core.plan.share import Sharing

# Local rules, applied bottom-up until none changes anything. Filters sink below restrictions, never the reverse.
RULES: tuple[Rule, ...] = (
    drop_empty,
    merge_unions,
    cancel_opposite,
    net_once,
    merge_projects,
    drop_identity,
    pull_up_project,
    merge_filters,
    tighten_outer_join,
    push_filter,
    push_join_condition,
    push_restriction,
    split_restriction,
    transfer_restriction,
)


def simplify_locally(plan: Plan) -> Plan:
    """All local rules to their fixpoint."""
    return fixpoint(plan, RULES)


# Passes over whole plans; each leaves work to the ones before it, so they are repeated.
PASSES: tuple[Rule, ...] = (simplify_locally, prune_columns, reorder_joins)


def simplify(plan: Plan) -> Plan:
    """An equal plan that reads and computes less; simplifying it again changes nothing."""
    shared = Sharing()
    plan = shared(plan)
    for _ in range(20):
        simplified = plan
        for step in PASSES:
            simplified = step(simplified)
        simplified = shared(simplified)
        if simplified is plan:
            return plan
        plan = simplified
    raise RuntimeError("simplification does not come to rest")
