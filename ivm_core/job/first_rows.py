"""The batch of a view that keeps the first rows of an order.

S is the state, ΔQ the netted changes of the rows that are ordered. The rows of S ∪ ΔQ, added up, as far as the last row of
S are the first rows after the batch: all others come after them, in both states. Nothing else is read unless fewer than
``least`` are left, and S did not hold all of Q.
"""

from __future__ import annotations

from sqlglot import exp

from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.first_rows import FirstRows
from ivm_core.delta.keys import netted, weighted
from ivm_core.delta.state import StateLayout
from ivm_core.delta.states import after
from ivm_core.job.model import STORED_ROWS, Input, Slice, Write, WriteKind
from ivm_core.job.parts import Parts, pinned, step_scan
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    WEIGHT,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    UnionAll,
    Window,
    column,
    keep,
)
from ivm_core.plan.over import ALL_BEFORE, over, rows_between
from ivm_core.plan.rewrite import expect_expression, substitute

_HELD = f"{HIDDEN_PREFIX}held"  # copies of a row in the state
_COPIES = f"{HIDDEN_PREFIX}copies"  # … and after the batch
_BEFORE = f"{HIDDEN_PREFIX}before"  # rows before it in the order
_LATER = f"{HIDDEN_PREFIX}later"  # positive where a row after it is in the state
_STORED = f"{HIDDEN_PREFIX}stored"  # rows in the state
_ALL = f"{HIDDEN_PREFIX}all"  # 1 where these are all rows of the query
_CHANGES, _FIRST, _SHORT, _REFILL, _VIEW_CHANGES = "row_changes", "first_rows", "too_few", "refill", "view_changes"


def add_first_rows(layout: StateLayout, first: FirstRows, changed: frozenset[str], parts: Parts, view: str) -> Write:
    """Add the batch's steps; returns its write."""
    columns = layout.stored.names
    names = dict(zip(first.limit.names, columns, strict=True))
    named = tuple(Named(safe, column(name)) for name, safe in names.items())
    delta = netted(differentiate(Project(first.limit.source, named), changed))
    parts.add_step(_CHANGES, pinned(delta), "the changes of the rows that are ordered, netted")
    parts.add_input(Input(STORED_ROWS, view, Slice.STORED, ()))
    stored = step_scan(STORED_ROWS, layout.stored, columns)
    changes = step_scan(_CHANGES, delta, delta.names)
    order = tuple(substitute(item, {name: column(safe) for name, safe in names.items()}) for item in first.limit.order)
    kept = _kept(stored, changes, first, order)
    parts.add_step(_FIRST, kept, "what the batch leaves of the first rows, and what came before the last of them")
    followed = step_scan(_FIRST, kept, kept.names)
    parts.add_step(_SHORT, _too_few(followed, first), "one row where too few are left")
    short = step_scan(_SHORT, kept, (_ALL,))
    refill = _refill(layout, short, stored, changed)
    parts.add_step(_REFILL, refill, "then: the first rows of all, against the state's", materialize=False, when=_SHORT)
    moved = Join(_moved(followed, columns), short, JoinKind.ANTI, exp.true())
    view_changes = UnionAll((moved, step_scan(_REFILL, refill, refill.names)))
    parts.add_step(_VIEW_CHANGES, view_changes, "the view's own changes")
    return Write(WriteKind.BAG, _VIEW_CHANGES, columns=columns)


def _kept(stored: Plan, changes: Plan, first: FirstRows, order: tuple[exp.Expression, ...]) -> Plan:
    """The rows with their copies in the state and after the batch, and whether the state held all rows there were."""
    names = stored.names
    both = UnionAll(
        (
            weighted(Project(stored, (*keep(names), Named(_HELD, _number(1)))), 1),
            Project(changes, (*keep(names), Named(_HELD, _number(0)), *keep((WEIGHT,)))),
        )
    )
    sums = tuple(Named(name, exp.Sum(this=column(name))) for name in (_HELD, WEIGHT))
    there = exp.Greatest(this=column(WEIGHT), expressions=[_number(0)])
    earlier = rows_between(ALL_BEFORE, "1 PRECEDING")
    windows = (
        # Backwards: of a frame that begins after the row, Spark adds up all rows anew for each.
        Named(_LATER, over(exp.Max(this=column(_HELD)), order=_reversed(order), rows=earlier)),
        Named(_BEFORE, over(exp.Sum(this=there), order=order, rows=earlier)),
        Named(_STORED, over(exp.Sum(this=column(_HELD)))),
    )
    numbered = Window(Aggregate(both, keep(names), sums), windows)
    complete = exp.LT(this=column(_STORED), expression=_number(first.least))
    passed = exp.or_(exp.GT(this=column(_LATER), expression=_number(0)), complete)
    among = Filter(numbered, expect_expression(exp.or_(exp.GT(this=column(_HELD), expression=_number(0)), passed)))
    room = exp.Sub(this=_number(first.most), expression=exp.Coalesce(this=column(_BEFORE), expressions=[_number(0)]))
    fitting = exp.Least(this=there.copy(), expressions=[exp.Greatest(this=room, expressions=[_number(0)])])
    # A row that the state should have had: it stays a removal, for which the write finds no row.
    missed = exp.and_(exp.LT(this=column(WEIGHT), expression=_number(0)), passed)
    copies = exp.Case(ifs=[exp.If(this=missed, true=column(WEIGHT))], default=fitting)
    flag = exp.Case(ifs=[exp.If(this=complete.copy(), true=_number(1))], default=_number(0))
    return Project(among, (*keep(names), *keep((_HELD,)), Named(_COPIES, copies), Named(_ALL, flag)))


def _too_few(kept: Plan, first: FirstRows) -> Plan:
    """One row where fewer than ``least`` rows are left of a state that did not hold all there were; of nothing, none."""
    sums = (Named(_COPIES, exp.Sum(this=column(_COPIES))), Named(_ALL, exp.Max(this=column(_ALL))))
    few = exp.LT(this=column(_COPIES), expression=_number(first.least))
    more = exp.EQ(this=column(_ALL), expression=_number(0))
    return Filter(Aggregate(kept, (), sums), exp.And(this=few, expression=more))


def _refill(layout: StateLayout, short: Plan, stored: Plan, changed: frozenset[str]) -> Plan:
    """top(Q⁺) less the state, where there are too few rows."""
    anew = pinned(after(layout.stored, changed))
    sides = (weighted(Join(rows, short, JoinKind.SEMI, exp.true()), sign) for rows, sign in ((anew, 1), (stored, -1)))
    return netted(UnionAll(tuple(sides)))


def _moved(followed: Plan, columns: tuple[str, ...]) -> Plan:
    """Copies after the batch less those in the state."""
    moved = exp.Sub(this=column(_COPIES), expression=column(_HELD))
    weights = Project(followed, (*keep(columns), Named(WEIGHT, moved)))
    return Filter(weights, exp.NEQ(this=column(WEIGHT), expression=_number(0)))


def _reversed(order: tuple[exp.Expression, ...]) -> tuple[exp.Expression, ...]:
    """The order from its end."""
    return tuple(
        exp.Ordered(this=item.this.copy(), desc=not item.args.get("desc"), nulls_first=not item.args.get("nulls_first"))
        for item in order
    )


def _number(value: int) -> exp.Expression:
    return exp.Literal.number(value)
