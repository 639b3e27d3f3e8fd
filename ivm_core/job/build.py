"""Build the maintenance job of a view for one pattern of changed base tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.accumulators import COUNT
from ivm_core.delta.clock import pin_clock
from ivm_core.delta.differentiate import differentiate, without_idle_time
from ivm_core.delta.simplify import simplify
from ivm_core.delta.state import StateKind, StateLayout
from ivm_core.delta.states import after
from ivm_core.job.bounds import STEP_PREFIX, place_bounds
from ivm_core.job.chains import Facts, cut_chains, largest_first
from ivm_core.job.compile import CompiledView, approximate_columns
from ivm_core.job.factors import factor_terms
from ivm_core.job.model import (
    RECOMPUTED_KEYS,
    VANISHED,
    Bound,
    Combine,
    Input,
    InputColumn,
    MaintenanceJob,
    MergeColumn,
    Slice,
    Step,
    Write,
    WriteKind,
)
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    At,
    Changes,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    Scan,
    ScanColumn,
    column,
    keep,
)
from ivm_core.plan.rewrite import both, expect_expression, transform_down
from ivm_core.plan.schema import types_of
from ivm_core.plan.share import Sharing, repeated
from ivm_core.plan.to_sql import input_name, to_sql

_PRESENT = "__ivm_present"


def full_job(view: CompiledView, reason: Reason) -> MaintenanceJob:
    """The job that computes the whole state again."""
    parts = _Parts({})
    everything = _pinned(after(view.layout.stored, frozenset()))
    parts.add_step("state", everything, "the whole state", materialize=False)
    identified = view.layout.kind is StateKind.BAG
    write = Write(WriteKind.OVERWRITE, "state", columns=view.layout.stored.names, identified=identified)
    return MaintenanceJob(
        view.name, view.fingerprint, Strategy.FULL, reason, view.tables, parts.inputs, parts.steps, write
    )


def batch_job(
    view: CompiledView, changed: frozenset[str], strategy: Strategy, reason: Reason, facts: Facts | None = None
) -> MaintenanceJob:
    """The job for a batch in which exactly the ``changed`` base tables have changes.

    ``strategy`` and ``reason`` are recorded; what is computed follows from the view's layout, and the order of its
    joins from what is known of the tables. Raises ``delta.differentiate.NoRule`` where an operator has no rule.
    """
    parts, layout = _Parts(facts or {}), _largest_first(view.layout, facts) if facts else view.layout
    match layout.kind:
        case StateKind.BAG:
            write = _bag(layout, changed, parts)
        case StateKind.MERGED_GROUPS:
            write = _merged_groups(layout, changed, parts)
        case StateKind.RECOMPUTED_GROUPS:
            write = _recomputed_groups(layout, changed, parts)
    return MaintenanceJob(
        view.name, view.fingerprint, strategy, reason, tuple(sorted(changed)), parts.inputs, parts.steps, write
    )


def _largest_first(layout: StateLayout, facts: Facts) -> StateLayout:
    ordered = replace(layout, stored=largest_first(layout.stored, facts))
    if (grouped := layout.aggregate) is None:
        return ordered
    return replace(ordered, aggregate=replace(grouped, source=largest_first(grouped.source, facts)))


def _bag(layout: StateLayout, changed: frozenset[str], parts: _Parts) -> Write:
    """ΔV, netted."""
    delta = net(differentiate(layout.stored, changed))
    parts.add_step("view_changes", _pinned(delta), "the view's own changes, netted")
    inexact = approximate_columns(layout.stored)
    return Write(WriteKind.BAG, "view_changes", columns=layout.stored.names, approximate=inexact)


def net(delta: Plan) -> Plan:
    """Weights summed over equal rows, zeros dropped."""
    names = tuple(name for name in delta.names if name != WEIGHT)
    summed = Aggregate(delta, keep(names), (Named(WEIGHT, exp.Sum(this=column(WEIGHT))),))
    return Filter(summed, _differs(column(WEIGHT)))


def _merged_groups(layout: StateLayout, changed: frozenset[str], parts: _Parts) -> Write:
    """γ over ΔQ with weighted sums: the change of each touched group's accumulators."""
    aggregate = _aggregate(layout)
    delta = differentiate(aggregate.source, changed)
    calls = tuple(call for a in layout.accumulators for call in a.changes())
    extremes = tuple(a for a in layout.accumulators if a.combine != "add")
    summed = Aggregate(delta, aggregate.keys, calls)
    changes = Project(
        summed,
        (
            *keep(layout.keys),
            *(Named(a.name, a.changed()) for a in layout.accumulators),
            *keep(tuple(a.deleted for a in extremes)),
        ),
    )
    touched = [_differs(column(a.name)) for a in layout.accumulators if a.combine == "add"]
    touched += [_present(column(name)) for a in extremes for name in (a.name, a.deleted)]
    parts.add_step(
        "group_changes",
        _pinned(Filter(changes, expect_expression(exp.or_(*touched)))),
        "the change of each touched group",
    )
    recompute: Step | None = None
    recompute_inputs: tuple[Input, ...] = ()
    if extremes:
        separate = _Parts({})  # one step: it runs while the batch is written
        again = _only_keys(layout.stored, layout.keys, RECOMPUTED_KEYS)
        separate.add_step("recomputed_groups", _pinned(after(again, changed)), "groups that lost their extreme value")
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


def _recomputed_groups(layout: StateLayout, changed: frozenset[str], parts: _Parts) -> Write:
    """K = keys(ΔQ); the new rows γ(Q⁺ ⋉ K), and the keys of K that have none any more."""
    aggregate = _aggregate(layout)
    columns = layout.stored.names
    if not layout.keys:
        parts.add_step("state", _pinned(after(layout.stored, changed)), "the one group", materialize=False)
        return Write(WriteKind.OVERWRITE, "state", columns=columns)
    touched = Aggregate(differentiate(without_idle_time(aggregate), changed), aggregate.keys, ())
    parts.add_step("touched_groups", _pinned(touched), "the keys of the groups that the batch touches")
    again = _pinned(after(_only_keys(layout.stored, layout.keys, "touched_groups"), changed))
    present = Project(again, (*keep(columns), Named(_PRESENT, exp.true())))
    keys = tuple(f"__ivm_key_{n}" for n in range(1, len(layout.keys) + 1))
    touched_scan = _step_scan("touched_groups", layout.stored, layout.keys)
    left = Project(touched_scan, tuple(Named(k, column(name)) for k, name in zip(keys, layout.keys, strict=True)))
    matched = Join(left, present, JoinKind.LEFT, _same(keys, layout.keys))
    values = (
        *(Named(name, column(key)) for name, key in zip(layout.keys, keys, strict=True)),
        *keep(columns[len(layout.keys) :]),
        Named(VANISHED, exp.Is(this=column(_PRESENT), expression=exp.Null())),
    )
    parts.add_step("group_rows", Project(matched, values), "the new rows of the touched groups")
    return Write(WriteKind.REPLACE_GROUPS, "group_rows", keys=layout.keys, columns=columns)


def _pinned(plan: Plan) -> Plan:
    """The plan made cheap, the clock's instants being parameters of the job."""
    return simplify(pin_clock(plan))


def _aggregate(layout: StateLayout) -> Aggregate:
    assert layout.aggregate is not None
    return layout.aggregate


def _only_keys(stored: Plan, keys: tuple[str, ...], step: str) -> Plan:
    """The rows of the state whose keys occur in a step; NULL keys match."""
    wanted = tuple(f"__ivm_wanted_{n}" for n in range(1, len(keys) + 1))
    scan = _step_scan(step, stored, keys)
    right = Project(scan, tuple(Named(w, column(name)) for w, name in zip(wanted, keys, strict=True)))
    return Join(stored, right, JoinKind.SEMI, _same(keys, wanted))


def _step_scan(step: str, stored: Plan, keys: tuple[str, ...]) -> Scan:
    types = types_of(stored)
    return Scan(STEP_PREFIX + step, tuple(ScanColumn(k, k, types.get(k) or "string") for k in keys), At.AFTER)


def _same(left: tuple[str, ...], right: tuple[str, ...]) -> exp.Expression | None:
    pairs = zip(left, right, strict=True)
    return both(*(exp.NullSafeEQ(this=column(a), expression=column(b)) for a, b in pairs))


def _differs(value: exp.Expression) -> exp.Expression:
    return exp.NEQ(this=value, expression=exp.Literal.number(0))


def _present(value: exp.Expression) -> exp.Expression:
    return exp.Not(this=exp.Is(this=value, expression=exp.Null()))


@dataclass
class _Parts:
    """The inputs and steps of a job under construction; equal leaves with equal bounds share one input."""

    facts: Facts
    _inputs: dict[tuple[Scan | Changes, tuple[Bound, ...]], Input] = field(default_factory=dict)
    _steps: list[Step] = field(default_factory=list)

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(self._inputs.values())

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    def add_step(self, name: str, plan: Plan, comment: str, *, materialize: bool = True) -> None:
        """Append a step; subplans over changes that occur more than once become steps of their own first."""
        plan, scans = Sharing()(factor_terms(plan, self.facts) if self.facts else plan), dict[int, Plan]()
        for number, shared in enumerate(repeated(plan), start=1):
            shared_name = f"{name}_part_{number}"
            body = transform_down(shared, lambda node: scans.get(id(node), node))
            types = types_of(shared)
            scans[id(shared)] = Scan(
                STEP_PREFIX + shared_name,
                tuple(ScanColumn(n, n, types.get(n) or "string") for n in shared.names),
                At.AFTER,
            )
            self._cut(shared_name, body, "computed once, used more than once", materialize=True)
        self._cut(name, transform_down(plan, lambda node: scans.get(id(node), node)), comment, materialize=materialize)

    def _cut(self, name: str, plan: Plan, comment: str, *, materialize: bool) -> None:
        made = 0

        def make_step(prefix: Plan, purpose: str) -> Plan:
            nonlocal made
            made += 1
            step = f"{name}_chain_{made}"
            self._append(step, prefix, f"changes joined so far, to {purpose}", materialize=True)
            types = types_of(prefix)
            return Scan(
                STEP_PREFIX + step,
                tuple(ScanColumn(n, n, types.get(n) or "string") for n in prefix.names),
                At.AFTER,
            )

        if self.facts:
            plan = cut_chains(plan, self.facts, lambda scan: scan.table.startswith(STEP_PREFIX), make_step)
        self._append(name, plan, comment, materialize=materialize)

    def _append(self, name: str, plan: Plan, comment: str, *, materialize: bool) -> None:
        bound = place_bounds(plan, self._leaf_name, self._name_input)
        self._steps.append(Step(name, to_sql(bound, leaf_name=_relation_name), comment, materialize))

    def _leaf_name(self, leaf: Scan | Changes) -> str:
        """The name of a small relation: a step, or a table's changes."""
        return _relation_name(leaf) if isinstance(leaf, Scan) else self._name_input(leaf, ())

    def _name_input(self, leaf: Scan | Changes, bounds: tuple[Bound, ...]) -> str:
        key = (leaf, bounds)
        if key not in self._inputs:
            name = _unused(input_name(leaf), {item.name for item in self._inputs.values()})
            columns = tuple(InputColumn(c.name, c.source, c.type) for c in leaf.columns)
            self._inputs[key] = Input(name, leaf.table, _slice(leaf), columns, bounds)
        return self._inputs[key].name


def _relation_name(leaf: Scan | Changes) -> str:
    return leaf.table.removeprefix(STEP_PREFIX)


def _slice(leaf: Scan | Changes) -> Slice:
    if isinstance(leaf, Changes):
        return Slice.CHANGES
    return Slice.BEFORE if leaf.at is At.BEFORE else Slice.AFTER


def _unused(name: str, taken: Iterable[str]) -> str:
    taken = set(taken)
    if name not in taken:
        return name
    return next(candidate for n in range(2, len(taken) + 3) if (candidate := f"{name}_{n}") not in taken)
