"""DISTINCT aggregates as sums over the distinct values of each group.

γ_k; COUNT(DISTINCT x), SUM(y) Q = γ_k; COUNT(x), SUM(s) (γ_{k,x}; SUM(y) AS s Q). The outer aggregate can be added to, so
a batch looks up the values that occur in its changes, before and after, and no other rows of the groups that they are in:
few where a group has many values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm_core.delta.accumulators import Accumulator, Accumulators, accumulate, decimal_of
from ivm_core.plan.inexact import exact_keys
from ivm_core.plan.nodes import HIDDEN_PREFIX, Aggregate, Named, Project, column, keep
from ivm_core.plan.rewrite import both, expect_expression, substitute, value_where
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.types import is_comparable

_GROUP = f"{HIDDEN_PREFIX}group_"
_VALUE = f"{HIDDEN_PREFIX}value_"
_DISTINCT = f"{HIDDEN_PREFIX}distinct_"


@dataclass(frozen=True, slots=True)
class OverDistinctValues:
    """``source``: one row for each group and value. ``keys``: the group's, over it. ``reason``: what a batch looks up."""

    source: Project
    keys: tuple[Named, ...]
    accumulators: Accumulators
    reason: str


def over_distinct_values(core: Aggregate) -> OverDistinctValues | None:
    """The aggregate over its distinct values; None where it has no or several kinds of them, or another function of it is
    not mergeable."""
    values = _distinct_values(core)
    types = types_of(core.source)
    if not values or not all(is_comparable(type_of(value, types)) for value in values):
        return None
    if len(exact_keys(values, core.source)) != len(values):
        return None
    plain = tuple(a for a in core.aggregates if not _is_distinct(a.expression))
    below = accumulate(plain, types)
    if not isinstance(below, Accumulators) or not all(map(_can_be_added, below.columns)):
        return None
    groups = tuple(Named(f"{_GROUP}{n}", key.expression) for n, key in enumerate(core.keys, start=1))
    named = tuple(Named(f"{_VALUE}{n}", value.copy()) for n, value in enumerate(values, start=1))
    group = Aggregate(core.source, (*groups, *named), tuple(a.stored for a in below.columns))
    shown = keep(tuple(key.name for key in (*groups, *named)))
    source = Project(group, (*shown, *(Named(a.name, a.finished()) for a in below.columns)))
    above = accumulate(tuple(_of_values(a, named) for a in core.aggregates if a not in plain), types_of(source))
    if not isinstance(above, Accumulators):
        return None
    renamed = {a.name: a.name.replace(HIDDEN_PREFIX, _DISTINCT) for a in above.columns[1:]}
    columns = (
        *(_added_up(a) for a in below.columns),
        *(replace(a, name=renamed[a.name]) for a in above.columns[1:]),  # but for the count of rows
    )
    names = {old: column(new) for old, new in renamed.items()}
    plain_finish, finish = iter(below.finish), (substitute(value, names) for value in above.finish)
    finished = tuple(next(plain_finish if a in plain else finish) for a in core.aggregates)
    keys = tuple(Named(key.name, column(group.name)) for key, group in zip(core.keys, groups, strict=True))
    calls = ", ".join(a.expression.sql("spark") for a in core.aggregates if a not in plain)
    return OverDistinctValues(source, keys, Accumulators(columns, finished), f"{calls} looks up the changed values")


def _distinct_values(core: Aggregate) -> tuple[exp.Expression, ...]:
    """What the DISTINCT aggregates are over; nothing unless all are over the same."""
    found = {tuple(a.expression.this.expressions) for a in core.aggregates if _is_distinct(a.expression)}
    return found.pop() if len(found) == 1 else ()


def _is_distinct(call: exp.Expression) -> bool:
    return isinstance(call.this, exp.Distinct)


def _of_values(aggregate: Named, values: tuple[Named, ...]) -> Named:
    """The call over the column of distinct values; COUNT of several counts those of which none is NULL."""
    call = aggregate.expression.copy()
    argument: exp.Expression = column(values[0].name)
    if len(values) > 1:
        present = both(*(exp.Not(this=exp.Is(this=column(v.name), expression=exp.Null())) for v in values))
        assert present is not None
        argument = value_where(present, exp.Literal.number(1))
    call.set("this", argument)
    return Named(aggregate.name, expect_expression(call))


def _can_be_added(accumulator: Accumulator) -> bool:
    """False where a sum of such sums, each times a weight, would lose digits."""
    digits = decimal_of(accumulator.type)
    return accumulator.combine != "add" or digits is None or digits[0] <= 27 or digits[1] <= 6


def _added_up(below: Accumulator) -> Accumulator:
    return Accumulator(below.name, below.combine, below.type, column(below.name))
