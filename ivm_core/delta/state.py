"""What a view's Delta table stores: the plan split into maintained state and the visible SELECT on top of it.

Three layouts. *Merged groups*: an aggregate whose functions are sums and counts at heart stores one row per group with
hidden accumulators, to which a batch adds (the counting algorithm; Gupta, Mumick, Subrahmanian 1993). *Recomputed
groups*: any other aggregate stores its finished rows; the groups that a batch touches are computed again. *Bag*: any
other query stores its rows. What stands above an aggregate, HAVING, ORDER BY with LIMIT, windows and projections, stays
on the reading side: a group that falls below a threshold or out of the first rows keeps its state, and a rank among all
groups is not computed again because one of them changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from ivm_core.delta.accumulators import Accumulator, Accumulators, Unmergeable, accumulate
from ivm_core.delta.distinct_values import over_distinct_values
from ivm_core.delta.first_rows import FirstRows, first_rows
from ivm_core.delta.matched_groups import over_matches
from ivm_core.delta.reasons import Code
from ivm_core.plan.inexact import exact_keys, inexact_columns, is_inexact, unmatched_columns
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    Aggregate,
    At,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Scan,
    ScanColumn,
    UnionAll,
    Window,
    column,
    keep,
    operators,
    references,
    sources,
)
from ivm_core.plan.rewrite import substitute, with_sources
from ivm_core.plan.schema import types_of

STATE_TABLE = "__ivm_state"
COUNT = "__ivm_count"


class StateKind(StrEnum):
    """How a batch changes the state."""

    MERGED_GROUPS = "merged_groups"
    RECOMPUTED_GROUPS = "recomputed_groups"
    BAG = "bag"


@dataclass(frozen=True, slots=True)
class StateLayout:
    """The split of a view's plan.

    ``stored`` computes the state's rows from the base tables; its column names are safe in a Delta table. ``visible``
    computes the view's rows from a scan of ``STATE_TABLE``. For groups, ``written`` is the view's own aggregate, and
    ``aggregate`` what is kept of it, with its keys named as in the state (``keys``); ``grouped`` the rows that it is made
    of, as batches see them. ``accumulators`` is empty unless the groups are merged; ``reason`` and ``code`` say why they
    are not, or what is looked up for them. ``first``: where a bag holds the first rows of an order, some of them to spare.
    """

    kind: StateKind
    stored: Plan
    visible: Plan
    keys: tuple[str, ...] = ()
    aggregate: Aggregate | None = None
    written: Aggregate | None = None
    grouped: Plan | None = None
    accumulators: tuple[Accumulator, ...] = ()
    reason: str = ""
    code: Code = Code.ROW_BY_ROW
    first: FirstRows | None = None

    @property
    def source(self) -> Plan:
        """What batches see the changes of: the rows that are grouped, or ordered, or stored."""
        if self.first is not None:
            return self.first.limit.source
        return self.aggregate.source if self.aggregate is not None else self.stored

    @property
    def row_wise(self) -> bool:
        """True where each stored row gives the view's rows by itself, so that changes may pass ``visible`` one by one."""
        return not any(isinstance(node, Limit | Window) for node in operators(self.visible))

    @property
    def one_group(self) -> bool:
        """True where the state is the one row of an aggregate without GROUP BY."""
        return self.kind is not StateKind.BAG and not self.keys

    @property
    def reads_as_is(self) -> bool:
        """True where the state's columns, hidden ones aside, are the view's columns."""
        shown = tuple(name for name in self.stored.names if not name.startswith(HIDDEN_PREFIX))
        return (
            isinstance(self.visible, Project)
            and isinstance(self.visible.source, Scan)
            and self.visible.columns == tuple(Named(name, column(name)) for name in shown)
        )


Reading = Project | Filter | Limit | Window  # what may be computed when a view is read


def derive_state(plan: Plan) -> StateLayout:
    """Split a view's plan: ``Project(Filter(Aggregate))`` → state = the aggregate, visible = Project over Filter."""
    stack: list[Reading] = []
    core = plan
    while isinstance(core, Reading):
        stack.append(core)
        core = core.source
    match core:
        case Aggregate(source, keys) if len(exact_keys(tuple(k.expression for k in keys), source)) == len(keys):
            return _groups(core, stack)
        case Distinct(source) if not inexact_columns(source):
            return _groups(Aggregate(source, keep(source.names), ()), stack)
    while stack and not isinstance(stack[-1], Limit):
        stack.pop()
    if stack and _is_grouped(stack[-1].source):
        return _bag(stack[-1].source, stack)
    if stack and isinstance(stack[-1], Limit) and (first := first_rows(stack[-1])) is not None:
        return replace(_bag(first.limit, stack), first=first)
    if isinstance(plan, Project) and unmatched_columns(plan) and not unmatched_columns(plan.source):
        # The numbers are stored; what is made of them is computed when the view is read.
        return _bag(plan.source, [plan])
    return _bag(plan, [])


def _is_grouped(plan: Plan) -> bool:
    """True where the rows are made from groups: few enough to store them all for a LIMIT over them."""
    match plan:
        case Aggregate() | Distinct():
            return True
        case Join(left, right, kind):
            match kind:
                case JoinKind.SEMI | JoinKind.ANTI | JoinKind.LEFT:
                    return _is_grouped(left)
                case JoinKind.RIGHT:
                    return _is_grouped(right)
                case JoinKind.INNER | JoinKind.FULL:
                    return _is_grouped(left) or _is_grouped(right)
        case UnionAll(inputs):
            return all(map(_is_grouped, inputs))
        case _:
            return any(map(_is_grouped, sources(plan)))


def _bag(core: Plan, stack: list[Reading]) -> StateLayout:
    """``stack`` holds the operators above what is stored, outermost first."""
    names = safe_names(core.names)
    stored = Project(core, tuple(Named(safe, column(name)) for safe, name in zip(names, core.names, strict=True)))
    visible: Plan = Project(
        _state_scan(stored, types_of(stored)),
        tuple(Named(name, column(safe)) for safe, name in zip(names, core.names, strict=True)),
    )
    for operator in reversed(stack):
        visible = with_sources(operator, (visible,))
    return StateLayout(StateKind.BAG, core if names == core.names else stored, visible)


def _groups(core: Aggregate, stack: list[Reading]) -> StateLayout:
    """``stack`` holds the operators above the aggregate, outermost first."""
    key_names = tuple(
        f"{HIDDEN_PREFIX}{n}" if n.lower() == COUNT else n for n in safe_names(core.names)[: len(core.keys)]
    )
    outcome = _mergeable(core)
    if isinstance(outcome, _Mergeable):
        keys = tuple(Named(name, key.expression) for name, key in zip(key_names, outcome.keys, strict=True))
        grouped, columns, code, reason = outcome.grouped, outcome.accumulators.columns, outcome.code, outcome.reason
        aggregate = Aggregate(outcome.source, keys, tuple(a.stored for a in columns))
        stored: Plan = Project(aggregate, (*keep(key_names), *(Named(a.name, a.finished()) for a in columns)))
        finish = dict(zip((a.name for a in core.aggregates), outcome.accumulators.finish, strict=True))
        kind = StateKind.MERGED_GROUPS
    else:
        keys = tuple(Named(name, key.expression) for name, key in zip(key_names, core.keys, strict=True))
        names = safe_names(core.names)[len(core.keys) :]
        aggregate = Aggregate(
            core.source,
            keys,
            tuple(Named(name, a.expression) for name, a in zip(names, core.aggregates, strict=True)),
        )
        stored = aggregate
        finish = {a.name: column(name) for name, a in zip(names, core.aggregates, strict=True)}
        kind, grouped, columns = StateKind.RECOMPUTED_GROUPS, core.source, ()
        reason, code = str(outcome), outcome.code
    below = {key.name: column(name) for key, name in zip(core.keys, key_names, strict=True)} | finish
    visible: Plan = _state_scan(stored, types_of(stored))
    match stack:
        case [*above, Project(_, shown)]:
            visible = Project(visible, tuple(Named(c.name, substitute(c.expression, below)) for c in shown))
        case above:
            visible = Project(visible, tuple(Named(name, below[name].copy()) for name in core.names))
    for operator in reversed(above):
        visible = with_sources(operator, (visible,))
    return StateLayout(kind, stored, visible, key_names, aggregate, core, grouped, columns, reason, code)


@dataclass(frozen=True, slots=True)
class _Mergeable:
    """How an aggregate is kept by adding to it. ``source``, ``keys``: what the accumulators are over; ``grouped``: see
    ``StateLayout``."""

    source: Plan
    keys: tuple[Named, ...]
    accumulators: Accumulators
    grouped: Plan
    code: Code = Code.MERGED_GROUPS
    reason: str = ""


def _mergeable(core: Aggregate) -> _Mergeable | Unmergeable:
    if (inexact := _inexact(core)) is not None:
        return inexact
    outcome, kept = accumulate(core.aggregates, types_of(core.source)), over_matches(core)
    if isinstance(outcome, Unmergeable):
        if outcome.code is not Code.DISTINCT_AGGREGATE or (written := over_distinct_values(core)) is None:
            return outcome
        found, over = (kept, over_distinct_values(kept)) if isinstance(kept, Aggregate) else (core, written)
        found, over = (found, over) if over is not None else (core, written)
        return _Mergeable(over.source, over.keys, over.accumulators, found.source, Code.DISTINCT_VALUES, written.reason)
    if kept is not core and isinstance(kept, Aggregate):
        matched = accumulate(kept.aggregates, types_of(kept.source))
        if isinstance(matched, Accumulators):
            return _Mergeable(kept.source, kept.keys, matched, kept.source, Code.LEFT_JOIN_MATCHES, _MATCHES)
    return _Mergeable(core.source, core.keys, outcome, core.source)


_MATCHES = "matches of the left join are added up; a row of its left side keeps its group without one"


def _inexact(core: Aggregate) -> Unmergeable | None:
    """The function that reads a floating-point sum: what was added to it need not be what a batch takes away."""
    below, rows = inexact_columns(core.source), is_inexact(core.source)
    if rows and not core.aggregates:
        return Unmergeable("DISTINCT", Code.FLOATING_SUM)
    reading = (a.expression for a in core.aggregates if rows or references(a.expression) & below)
    call = next(reading, None)
    return Unmergeable(call.sql("spark"), Code.FLOATING_SUM) if call is not None else None


def _state_scan(stored: Plan, types: dict[str, str | None]) -> Scan:
    return Scan(STATE_TABLE, tuple(ScanColumn(n, n, types.get(n) or "string") for n in stored.names), At.NOW)


def safe_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that a Delta table without column mapping accepts, unique without regard to case.

    >>> safe_names(("price", "count(1)", "Größe"))
    ('price', '__ivm_c2', '__ivm_c3')
    """
    return tuple(
        name if name.isascii() and name.isidentifier() else f"{HIDDEN_PREFIX}c{position}"
        for position, name in enumerate(names, start=1)
    )
