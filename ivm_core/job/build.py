"""Build the maintenance job of a view for one pattern of changed base tables."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.accumulators import COUNT
from ivm_core.delta.differentiate import differentiate, without_idle_time
from ivm_core.delta.keys import netted
from ivm_core.delta.state import StateKind, StateLayout
from ivm_core.delta.states import after
from ivm_core.job.chains import largest_first
from ivm_core.job.collector import collector_paused
from ivm_core.job.compile import CompiledView
from ivm_core.job.facts import Facts
from ivm_core.job.first_rows import add_first_rows
from ivm_core.job.model import (
    RECOMPUTED_KEYS,
    VANISHED,
    Combine,
    Input,
    MaintenanceJob,
    MergeColumn,
    Step,
    Write,
    WriteKind,
)
from ivm_core.job.parts import Parts, pinned, step_scan
from ivm_core.job.semijoins import pass_on_semijoins
from ivm_core.job.strategy import check_rows_match
from ivm_core.plan.inexact import approximate_columns
from ivm_core.plan.nodes import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    column,
    keep,
)
from ivm_core.plan.rewrite import both, expect_expression

_PRESENT = "__ivm_present"


def full_job(view: CompiledView, reason: Reason) -> MaintenanceJob:
    """The job that computes the whole state again."""
    parts = Parts({})
    everything = pass_on_semijoins(pinned(after(view.layout.stored, frozenset())))
    parts.add_step("state", everything, "the whole state", materialize=False)
    identified = view.layout.kind is StateKind.BAG
    write = Write(WriteKind.OVERWRITE, "state", columns=view.layout.stored.names, identified=identified)
    return MaintenanceJob(
        view.name, view.fingerprint, Strategy.FULL, reason, view.tables, parts.inputs, parts.steps, write
    )


@collector_paused()
def batch_job(
    view: CompiledView, changed: frozenset[str], strategy: Strategy, reason: Reason, facts: Facts | None = None
) -> MaintenanceJob:
    """The job for a batch in which exactly the ``changed`` base tables have changes.

    ``strategy`` and ``reason`` are recorded; what is computed follows from the view's layout, and the order of its
    joins from what is known of the tables. Raises ``delta.differentiate.NoRule`` where an operator has no rule.
    """
    parts, layout = Parts(facts or {}), _largest_first(view.layout, facts) if facts else view.layout
    match layout.kind:
        case StateKind.BAG:
            first = layout.first
            write = add_first_rows(layout, first, changed, parts, view.name) if first else _bag(layout, changed, parts)
        case StateKind.MERGED_GROUPS:
            write = _merged_groups(layout, changed, parts)
        case StateKind.RECOMPUTED_GROUPS:
            write = _recomputed_groups(layout, changed, parts)
    return MaintenanceJob(
        view.name, view.fingerprint, strategy, reason, tuple(sorted(changed)), parts.inputs, parts.steps, write
    )


def _largest_first(layout: StateLayout, facts: Facts) -> StateLayout:
    ordered = replace(layout, stored=largest_first(layout.stored, facts))
    if (first := layout.first) is not None:
        limit = replace(first.limit, source=largest_first(first.limit.source, facts))
        return replace(ordered, first=replace(first, limit=limit))
    if (grouped := layout.aggregate) is None:
        return ordered
    return replace(ordered, aggregate=replace(grouped, source=largest_first(grouped.source, facts)))


def _bag(layout: StateLayout, changed: frozenset[str], parts: Parts) -> Write:
    """ΔV, netted."""
    check_rows_match(layout)
    delta = netted(differentiate(layout.stored, changed))
    parts.add_step("view_changes", pinned(delta), "the view's own changes, netted")
    columns, inexact = layout.stored.names, approximate_columns(layout.stored)
    near = tuple(name for name in columns if name in inexact)
    return Write(WriteKind.BAG, "view_changes", columns=columns, approximate=near)


def _merged_groups(layout: StateLayout, changed: frozenset[str], parts: Parts) -> Write:
    """γ over ΔQ with weighted sums: the change of each touched group's accumulators."""
    aggregate = _aggregate(layout)
    delta = differentiate(aggregate.source, changed)
    calls = tuple(call for a in layout.accumulators for call in a.changes())
    extremes = tuple(a for a in layout.accumulators if a.combine != "add")
    summed = Aggregate(delta, aggregate.keys, calls)
    # Of the sums as they come from the aggregate, where NULL is no change: Spark (Project.getAllValidConstraints) writes a
    # condition over expressions that are columns of the SELECT in 2ⁿ ways.
    touched = [_differs(column(a.name)) for a in layout.accumulators if a.combine == "add"]
    touched += [_present(column(name)) for a in extremes for name in (a.name, a.deleted)]
    changes = Project(
        Filter(summed, expect_expression(exp.or_(*touched))),
        (
            *keep(layout.keys),
            *(Named(a.name, a.changed()) for a in layout.accumulators),
            *keep(tuple(a.deleted for a in extremes)),
        ),
    )
    parts.add_step("group_changes", pinned(changes), "the change of each touched group")
    recompute: Step | None = None
    recompute_inputs: tuple[Input, ...] = ()
    if extremes:
        separate = Parts({})  # one step: it runs while the batch is written
        again = _only_keys(layout.stored, layout.keys, RECOMPUTED_KEYS)
        separate.add_step("recomputed_groups", pinned(after(again, changed)), "groups that lost their extreme value")
        (recompute,), recompute_inputs = separate.steps, separate.inputs
    return Write(
        WriteKind.MERGE_GROUPS,
        "group_changes",
        keys=layout.keys,
        columns=layout.stored.names,
        merge=tuple(
            MergeColumn(a.name, Combine(a.combine), a.type, "" if a.combine == "add" else a.deleted)
            for a in layout.accumulators
        ),
        count=COUNT,
        keep_empty=not layout.keys,
        recompute=recompute,
        recompute_inputs=recompute_inputs,
    )


def _recomputed_groups(layout: StateLayout, changed: frozenset[str], parts: Parts) -> Write:
    """K = keys(ΔQ); the new rows γ(Q⁺ ⋉ K), and the keys of K that have none any more."""
    aggregate = _aggregate(layout)
    columns = layout.stored.names
    if not layout.keys:
        parts.add_step("state", pinned(after(layout.stored, changed)), "the one group", materialize=False)
        return Write(WriteKind.OVERWRITE, "state", columns=columns)
    touched = Aggregate(differentiate(without_idle_time(aggregate), changed), aggregate.keys, ())
    parts.add_step("touched_groups", pinned(touched), "the keys of the groups that the batch touches")
    again = pinned(after(_only_keys(layout.stored, layout.keys, "touched_groups"), changed))
    present = Project(again, (*keep(columns), Named(_PRESENT, exp.true())))
    keys = tuple(f"__ivm_key_{n}" for n in range(1, len(layout.keys) + 1))
    touched_scan = step_scan("touched_groups", layout.stored, layout.keys)
    left = Project(touched_scan, tuple(Named(k, column(name)) for k, name in zip(keys, layout.keys, strict=True)))
    matched = Join(left, present, JoinKind.LEFT, _same(keys, layout.keys))
    values = (
        *(Named(name, column(key)) for name, key in zip(layout.keys, keys, strict=True)),
        *keep(columns[len(layout.keys) :]),
        Named(VANISHED, exp.Is(this=column(_PRESENT), expression=exp.Null())),
    )
    parts.add_step("group_rows", Project(matched, values), "the new rows of the touched groups")
    return Write(WriteKind.REPLACE_GROUPS, "group_rows", keys=layout.keys, columns=columns)


def _aggregate(layout: StateLayout) -> Aggregate:
    assert layout.aggregate is not None
    return layout.aggregate


def _only_keys(stored: Plan, keys: tuple[str, ...], step: str) -> Plan:
    """The rows of the state whose keys occur in a step; NULL keys match."""
    wanted = tuple(f"__ivm_wanted_{n}" for n in range(1, len(keys) + 1))
    scan = step_scan(step, stored, keys)
    right = Project(scan, tuple(Named(w, column(name)) for w, name in zip(wanted, keys, strict=True)))
    return Join(stored, right, JoinKind.SEMI, _same(keys, wanted))


def _same(left: tuple[str, ...], right: tuple[str, ...]) -> exp.Expression | None:
    pairs = zip(left, right, strict=True)
    return both(*(exp.NullSafeEQ(this=column(a), expression=column(b)) for a, b in pairs))


def _differs(value: exp.Expression) -> exp.Expression:
    return exp.NEQ(this=value, expression=exp.Literal.number(0))


def _present(value: exp.Expression) -> exp.Expression:
    return exp.Not(this=exp.Is(this=value, expression=exp.Null()))
