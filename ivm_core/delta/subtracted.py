"""Groups before the batch from the groups after it: A⁻ = A⁺ − ΔA, for aggregates that can be added to.

γ_k(Q⁻ ⋉ K) need not be computed where γ_k(Q⁺ ⋉ K) and ΔQ are there: one pass over (Q⁺ ⋉ K) ∪ ΔQ adds up the accumulators of
the rows after the batch and, apart, of the changes (the counting algorithm; Gupta, Mumick, Subrahmanian 1993, for groups
of which no count is stored). Counts and sums of integers and decimals come back exactly; for others both states are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from ivm_core.delta.accumulators import Accumulator, Accumulators, accumulate
from ivm_core.delta.keys import having_keys
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    WEIGHT,
    Aggregate,
    Filter,
    Generate,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    Scan,
    UnionAll,
    column,
    keep,
    operators,
    references,
)
from ivm_core.plan.rewrite import expect_expression, substitute, value_where
from ivm_core.plan.schema import types_of

_CHANGE = f"{HIDDEN_PREFIX}change"  # NULL in the rows after the batch, else the weight of a change
_AFTER = f"{HIDDEN_PREFIX}after_"
_BEFORE = f"{HIDDEN_PREFIX}before_"
_CHANGED = f"{HIDDEN_PREFIX}changed_"


def subtractable(plan: Aggregate) -> Accumulators | None:
    """The sums by which the groups before follow from the groups after; None where a function is no sum, or ΔQ needs Q⁻."""
    linear = all(
        isinstance(node, Scan | Filter | Project | UnionAll | Generate)
        or (isinstance(node, Join) and node.kind is JoinKind.INNER)
        for node in operators(plan.source)
    )
    return _accumulators(plan) if plan.keys and plan.aggregates and linear else None


def difference_of_groups(
    plan: Aggregate, accumulators: Accumulators, after: Plan, delta: Plan, keys: Plan, by: Sequence[exp.Expression]
) -> Plan:
    """Δ(γ_k Q): of each group that a change touches, the row after with weight 1 and the row before with −1.

    ``accumulators``: of a ``subtractable`` plan. ``after``: Q⁺. ``delta``: ΔQ. ``keys``: K,
    whose columns are matched with ``by``.
    """
    read = _read(plan)
    nothing = exp.cast(exp.Null(), "bigint", dialect="spark")
    rows = Project(having_keys(after, by, keys), (*keep(read), Named(_CHANGE, nothing)))
    changes = Project(having_keys(delta, by, keys), (*keep(read), Named(_CHANGE, column(WEIGHT))))
    calls = [call for a in accumulators.columns for call in _calls(a)]
    summed = Aggregate(UnionAll((rows, changes)), plan.keys, tuple(calls))
    # Of the sums as they come, below what is made of them, for Spark's sake: see job/build.py.
    touched = [exp.NEQ(this=column(_CHANGED + a.name), expression=exp.Literal.number(0)) for a in accumulators.columns]
    one = exp.Literal.number(1)
    signs = [exp.cast(sign, "bigint", dialect="spark") for sign in (one, exp.Neg(this=one.copy()))]
    twice = exp.Explode(this=exp.Array(expressions=signs))
    signed = Generate(Filter(summed, expect_expression(exp.or_(*touched))), twice, (WEIGHT,))
    count = accumulators.columns[0].name
    were_rows = exp.GT(this=column(_AFTER + count), expression=column(_CHANGED + count))
    there = _either(exp.GT(this=column(_AFTER + count), expression=exp.Literal.number(0)), were_rows)
    names = tuple(key.name for key in plan.keys)
    states = Project(
        Filter(signed, there), (*keep(names), *(n for a in accumulators.columns for n in _states(a)), *keep((WEIGHT,)))
    )
    shown = (Named(a.name, value) for a, value in zip(plan.aggregates, _values(accumulators), strict=True))
    return Project(states, (*keep(names), *shown, *keep((WEIGHT,))))


def _values(accumulators: Accumulators) -> Iterable[exp.Expression]:
    """Each function's value, in a row with weight 1 after the batch and in one with −1 before it."""
    for value in accumulators.finish:
        after, before = (
            substitute(value, {a.name: column(prefix + a.name) for a in accumulators.columns})
            for prefix in (_AFTER, _BEFORE)
        )
        yield _either(after, before)


def _either(after: exp.Expression, before: exp.Expression) -> exp.Expression:
    """The value of a row with weight 1, and that of one with −1."""
    positive = exp.GT(this=column(WEIGHT), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=positive, true=after.copy())], default=before.copy())


def _calls(accumulator: Accumulator) -> Iterable[Named]:
    """The sum over the rows after the batch, and that over the changes."""
    here = exp.Is(this=column(_CHANGE), expression=exp.Null())
    call = accumulator.stored.expression
    argument = exp.Literal.number(1) if isinstance(call.this, exp.Star) else call.this
    only = call.copy()
    only.set("this", value_where(here, argument))
    (change,) = accumulator.changes()
    yield Named(_AFTER + accumulator.name, only)
    yield Named(_CHANGED + accumulator.name, substitute(change.expression, {WEIGHT: column(_CHANGE)}))


def _states(accumulator: Accumulator) -> Iterable[Named]:
    """Both states of the accumulator, in its type."""
    after, change = (column(prefix + accumulator.name) for prefix in (_AFTER, _CHANGED))

    def in_type(value: exp.Expression) -> exp.Expression:
        return exp.cast(exp.Coalesce(this=value, expressions=[exp.Literal.number(0)]), accumulator.type)

    before = exp.Sub(this=in_type(after), expression=in_type(change))
    yield Named(_AFTER + accumulator.name, in_type(after.copy()))
    yield Named(_BEFORE + accumulator.name, exp.cast(before, accumulator.type))


def _accumulators(plan: Aggregate) -> Accumulators | None:
    """None where a function is no sum. AVG is none: a row that is taken away must be the one that the query itself made, to
    the last digit."""
    if any(isinstance(named.expression, exp.Avg) for named in plan.aggregates):
        return None
    outcome = accumulate(plan.aggregates, types_of(plan.source))
    if not isinstance(outcome, Accumulators) or any(a.combine != "add" for a in outcome.columns):
        return None
    return outcome


def _read(plan: Aggregate) -> tuple[str, ...]:
    """The columns of Q that the aggregate reads."""
    used = {name for named in (*plan.keys, *plan.aggregates) for name in references(named.expression)}
    return tuple(name for name in plan.source.names if name in used)
