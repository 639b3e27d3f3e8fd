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
from ivm_core.plan.rewrite import expect_expression, substitute
from ivm_core.plan.schema import types_of

_CHANGE = f"{HIDDEN_PREFIX}change"  # NULL in the rows after the batch, else the weight of a change
_AFTER = f"{HIDDEN_PREFIX}after_"
_BEFORE = f"{HIDDEN_PREFIX}before_"
_CHANGED = f"{HIDDEN_PREFIX}changed_"
_STATES = (_AFTER, _BEFORE)


def can_subtract(plan: Aggregate) -> bool:
    """Whether the groups before follow from the groups after: every function is a sum, and ΔQ is had without Q⁻ itself."""
    linear = all(
        isinstance(node, Scan | Filter | Project | UnionAll | Generate)
        or (isinstance(node, Join) and node.kind is JoinKind.INNER)
        for node in operators(plan.source)
    )
    return bool(plan.keys and plan.aggregates) and linear and _accumulators(plan) is not None


def difference_of_groups(plan: Aggregate, after: Plan, delta: Plan, keys: Plan, by: Sequence[exp.Expression]) -> Plan:
    """Δ(γ_k Q), one row for each group that came or went and two for one that changed.

    ``after``: Q⁺. ``delta``: ΔQ. ``keys``: K, whose columns are matched with ``by``. Only for plans that ``can_subtract``.
    """
    accumulators = _accumulators(plan)
    assert accumulators is not None
    read = _read(plan)
    nothing = exp.cast(exp.Null(), "bigint", dialect="spark")
    rows = Project(having_keys(after, by, keys), (*keep(read), Named(_CHANGE, nothing)))
    changes = Project(having_keys(delta, by, keys), (*keep(read), Named(_CHANGE, column(WEIGHT))))
    calls = [call for a in accumulators.columns for call in _calls(a)]
    summed = Aggregate(UnionAll((rows, changes)), plan.keys, tuple(calls))
    names = tuple(key.name for key in plan.keys)
    finished = [named for a in accumulators.columns for named in _finished(a)]
    states = Project(summed, (*keep(names), *finished))
    return _as_changes(plan, accumulators, states, names)


def _as_changes(plan: Aggregate, accumulators: Accumulators, states: Plan, names: tuple[str, ...]) -> Plan:
    """From rows of both states' accumulators, one row with weight 1 and one with −1, but for groups that are as they were."""
    count = accumulators.columns[0].name
    values = [
        tuple(substitute(value, {a.name: column(prefix + a.name) for a in accumulators.columns}) for prefix in _STATES)
        for value in accumulators.finish
    ]
    numbers = range(1, len(values) + 1)
    shown = [f"{prefix}value_{n}" for n in numbers for prefix in _STATES]
    pairs = Project(
        states,
        (
            *keep(names),
            *(Named(f"{prefix}rows", column(prefix + count)) for prefix in _STATES),
            *(Named(name, value) for name, value in zip(shown, (v for pair in values for v in pair), strict=True)),
        ),
    )
    same = [
        exp.NullSafeEQ(this=column(f"{_AFTER}value_{n}"), expression=column(f"{_BEFORE}value_{n}")) for n in numbers
    ]
    there = [exp.GT(this=column(f"{prefix}rows"), expression=exp.Literal.number(0)) for prefix in _STATES]
    lasting = exp.EQ(this=exp.paren(there[0].copy()), expression=exp.paren(there[1].copy()))
    differing = Filter(pairs, expect_expression(exp.not_(exp.and_(lasting, *same))))
    signs = exp.Array(
        expressions=[exp.cast(exp.Literal.number(1), "bigint"), exp.cast(exp.Neg(this=exp.Literal.number(1)), "bigint")]
    )
    signed = Generate(differing, exp.Explode(this=signs), (WEIGHT,))
    live = Filter(signed, _either(there[0], there[1]))
    chosen = (
        Named(a.name, _either(column(f"{_AFTER}value_{n}"), column(f"{_BEFORE}value_{n}")))
        for n, a in enumerate(plan.aggregates, start=1)
    )
    return Project(live, (*keep(names), *chosen, Named(WEIGHT, column(WEIGHT))))


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
    only.set("this", exp.Case(ifs=[exp.If(this=here, true=argument.copy())]))
    (change,) = accumulator.changes()
    yield Named(_AFTER + accumulator.name, only)
    yield Named(_CHANGED + accumulator.name, substitute(change.expression, {WEIGHT: column(_CHANGE)}))


def _finished(accumulator: Accumulator) -> Iterable[Named]:
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
