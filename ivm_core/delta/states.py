"""A plan over the state before a batch and over the state after it."""

from __future__ import annotations

from dataclasses import replace

from ivm_core.plan.nodes import At, Named, Plan, Project, Scan, base_tables
from ivm_core.plan.raising import can_raise, never_raise
from ivm_core.plan.rewrite import transform_up

Tables = frozenset[str]


def before(plan: Plan, changed: Tables) -> Plan:
    """Q⁻: the plan over the state before the batch. The view stands there, so that nothing in it fails any more."""

    def without_failures(node: Plan) -> Plan:
        if not isinstance(node, Project) or not is_failing(node) or not base_tables(node) & changed:
            return node
        return Project(node.source, tuple(Named(named.name, never_raise(named.expression)) for named in node.columns))

    return _at(transform_up(plan, without_failures), At.BEFORE, changed)


def after(plan: Plan, changed: Tables) -> Plan:
    """Q⁺: the plan over the state after the batch."""
    return _at(plan, At.AFTER, changed)


def is_failing(plan: Project) -> bool:
    """Whether a column's computation may fail for some row."""
    return any(can_raise(named.expression) for named in plan.columns)


def _at(plan: Plan, at: At, changed: Tables) -> Plan:
    """Scans of tables without changes all read the state after, so that equal subplans are equal."""

    def bind(node: Plan) -> Plan:
        if isinstance(node, Scan) and node.at is At.NOW:
            return replace(node, at=at if node.table in changed else At.AFTER)
        return node

    return transform_up(plan, bind)
