"""The inputs and steps of a job while it is built: what occurs twice becomes a step, and chains over large tables are cut."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ivm_core.delta.clock import pin_clock
from ivm_core.delta.simplify import simplify
from ivm_core.job.bounds import STEP_PREFIX, place_bounds
from ivm_core.job.chains import cut_chains
from ivm_core.job.factors import factor_terms
from ivm_core.job.facts import Facts
from ivm_core.job.model import Bound, Input, InputColumn, Slice, Step
from ivm_core.plan.nodes import At, Changes, Plan, Scan, ScanColumn
from ivm_core.plan.rewrite import transform_down
from ivm_core.plan.schema import types_of
from ivm_core.plan.share import Sharing, repeated
from ivm_core.plan.to_sql import input_name, to_sql


@dataclass
class Parts:
    """The inputs and steps of a job under construction; equal leaves with equal bounds share one input."""

    facts: Facts
    _inputs: dict[tuple[Scan | Changes, tuple[Bound, ...]], Input] = field(default_factory=dict)
    _others: list[Input] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    @property
    def inputs(self) -> tuple[Input, ...]:
        return (*self._inputs.values(), *self._others)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps)

    def add_input(self, item: Input) -> None:
        """Append an input that is no slice of a table; steps scan it as they do a step."""
        self._others.append(item)

    def add_step(self, name: str, plan: Plan, comment: str, *, materialize: bool = True, when: str = "") -> None:
        """Append a step; subplans over changes that occur more than once become steps of their own first.

        ``when``: see ``Step``.
        """
        plan = Sharing()(factor_terms(plan, self.facts))
        scans: dict[int, Plan] = {}
        for number, shared in enumerate(repeated(plan), start=1):
            shared_name = f"{name}_part_{number}"
            body = transform_down(shared, lambda node: scans.get(id(node), node))
            scans[id(shared)] = step_scan(shared_name, shared, shared.names)
            self._cut(shared_name, body, "computed once, used more than once", materialize=True, when=when)
        whole = transform_down(plan, lambda node: scans.get(id(node), node))
        self._cut(name, whole, comment, materialize=materialize, when=when)

    def _cut(self, name: str, plan: Plan, comment: str, *, materialize: bool, when: str) -> None:
        made = 0

        def make_step(prefix: Plan, purpose: str) -> Plan:
            nonlocal made
            made += 1
            step = f"{name}_chain_{made}"
            self._append(step, prefix, f"changes joined so far, to {purpose}", materialize=True, when=when)
            return step_scan(step, prefix, prefix.names)

        if self.facts:
            plan = cut_chains(plan, self.facts, lambda scan: scan.table.startswith(STEP_PREFIX), make_step)
        self._append(name, plan, comment, materialize=materialize, when=when)

    def _append(self, name: str, plan: Plan, comment: str, *, materialize: bool, when: str) -> None:
        bound = place_bounds(plan, self._leaf_name, self._name_input)
        self._steps.append(Step(name, to_sql(bound, leaf_name=_relation_name), comment, materialize, when))

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


def pinned(plan: Plan) -> Plan:
    """The plan made cheap, the clock's instants being parameters of the job."""
    return simplify(pin_clock(plan))


def step_scan(step: str, typed: Plan, names: tuple[str, ...]) -> Scan:
    """A scan of a step that has these columns of a plan."""
    types = types_of(typed)
    return Scan(STEP_PREFIX + step, tuple(ScanColumn(n, n, types.get(n) or "string") for n in names), At.AFTER)


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
