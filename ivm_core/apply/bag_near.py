"""BAG with floating-point sums: the rows that a batch takes away are found though their last digits differ.

A sum of DOUBLE depends on the order of its rows, so a row computed again need not equal the stored one, nor the row that
another term of the batch adds. Each row to remove takes the nearest of the stored and the added rows that equal it in all
exact columns.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm_core.apply.bag import COPY, IS_NEW, NEEDED, any_of
from ivm_core.apply.names import (
    NO_ODD,
    SOURCE,
    TARGET,
    Odd,
    all_of,
    call,
    case,
    col,
    named,
    number,
    same,
    table,
    to_type,
    value,
)
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN
from ivm_core.plan.nodes import WEIGHT

_IDS = (BATCH_COLUMN, ROW_COLUMN)
# Relative to the larger value, absolute below 1. The nearest row is not searched for beyond the first; rows to remove that
# differ by less than the second are one row.
_FARTHEST, _SAME = exp.Literal.number("1e-6"), exp.Literal.number("1e-12")
_PLACE = "__ivm_place_"  # of a value among those that are near to one another, by approximate column
_STEP = "__ivm_step_"


def victims(
    columns: Sequence[str], approximate: Sequence[str], state: str, added: str, weighted: str, odd: Odd = NO_ODD
) -> exp.Query:
    """The id columns of the stored and added rows that the batch takes away. Too few where a row has no near one."""
    exact = [name for name in columns if name not in approximate]
    position = exp.Window(
        this=exp.RowNumber(),
        partition_by=[value(name, odd, SOURCE) for name in columns],
        order=_order(_farthest(approximate), *(col(name, TARGET) for name in _IDS)),
    )
    matched = (
        exp.select(*(named(col(name, TARGET), name) for name in _IDS), col(NEEDED, SOURCE), named(position, COPY))
        .from_(_candidates(columns, state, added).subquery(TARGET))
        .join(
            _needed(exact, approximate, weighted, odd).subquery(SOURCE),
            on=all_of([same(TARGET, SOURCE, exact, odd), *(exp.paren(_near(name)) for name in approximate)]),
            join_type="inner",
        )
    )
    found = exp.select(*(col(name) for name in _IDS)).distinct().from_(matched.subquery("matched"))
    return found.where(exp.LTE(this=col(COPY), expression=col(NEEDED)))


def rewrite_state(columns: Sequence[str], state: str, added: str, found: str) -> exp.Query:
    """All rows of the new state: stored and added ones without the ``found``."""
    rows = exp.select(*(named(col(name, TARGET), name) for name in (*columns, *_IDS)))
    return _without(rows.from_(_candidates(columns, state, added).subquery(TARGET)), found)


def source_of_merge(columns: Sequence[str], added: str, found: str) -> exp.Query:
    """The MERGE's source: the ids of the rows that go, and new rows, told apart by ``IS_NEW``."""
    new = exp.select(*(named(col(name, TARGET), name) for name in (*columns, *_IDS)), named(exp.true(), IS_NEW))
    # A typed NULL for each visible column: the types come from the other branch of the union.
    removed = exp.select(
        *(named(exp.Null(), name) for name in columns), *(col(name) for name in _IDS), named(exp.false(), IS_NEW)
    ).from_(table(found))
    return exp.union(_without(new.from_(table(added, TARGET)), found), removed, distinct=False)


def _candidates(columns: Sequence[str], state: str, added: str) -> exp.Query:
    names = (*columns, *_IDS)
    sides = [exp.select(*(col(name) for name in names)).from_(table(relation)) for relation in (state, added)]
    return exp.union(*sides, distinct=False)


def _without(rows: exp.Select, found: str) -> exp.Select:
    return rows.join(table(found, SOURCE), on=same(TARGET, SOURCE, _IDS), join_type="left anti")


def _needed(exact: Sequence[str], approximate: Sequence[str], weighted: str, odd: Odd) -> exp.Select:
    """The rows to remove with their copies; those that nearly equal one another are one row.

    Two terms of a batch may take away copies of one stored row, each with digits of its own.
    """
    removed = (
        exp.select(*(col(name) for name in (*exact, *approximate)), named(exp.Neg(this=col(WEIGHT)), NEEDED))
        .from_(table(weighted))
        .where(exp.LT(this=col(WEIGHT), expression=number(0)))
    )
    steps = exp.select("*", *(named(_starts(name, exact, odd), _STEP + name) for name in approximate))
    places = exp.select(
        "*", *(named(_over(exp.Sum(this=col(_STEP + name)), name, exact, odd), _PLACE + name) for name in approximate)
    )
    clustered = places.from_(steps.from_(removed.subquery("removed")).subquery("stepped")).subquery("placed")
    summed = to_type(exp.Sum(this=col(NEEDED)), "bigint")
    return (
        exp.select(
            *(any_of(name, odd) for name in exact),
            *(named(exp.Min(this=col(name)), name) for name in approximate),
            named(summed, NEEDED),
        )
        .from_(clustered)
        .group_by(*(value(name, odd) for name in (*exact, *(_PLACE + name for name in approximate))))
    )


def _starts(name: str, exact: Sequence[str], odd: Odd) -> exp.Expr:
    """1 where the value is far from the next smaller one of the rows with the same exact columns, else 0."""
    smaller = _over(exp.Lag(this=col(name)), name, exact, odd)
    return case((_close(col(name), smaller, _SAME), number(0)), otherwise=number(1))


def _over(function: exp.Expr, name: str, exact: Sequence[str], odd: Odd) -> exp.Window:
    return exp.Window(this=function, partition_by=[value(other, odd) for other in exact], order=_order(col(name)))


def _order(*expressions: exp.Expr) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=expression, nulls_first=True) for expression in expressions])


def _near(name: str) -> exp.Expr:
    mine, other = col(name, TARGET), col(name, SOURCE)
    return exp.or_(exp.NullSafeEQ(this=mine, expression=other), _close(mine.copy(), other.copy(), _FARTHEST))


def _close(mine: exp.Expr, other: exp.Expr, tolerance: exp.Expr) -> exp.Expr:
    """Finite, and equal up to the tolerance."""
    distance, size = _apart(mine, other)
    finite = exp.LT(this=distance.copy(), expression=to_type(exp.Literal.string("Infinity"), "double"))
    return exp.and_(finite, exp.LTE(this=distance, expression=exp.Mul(this=tolerance.copy(), expression=size)))


def _farthest(names: Sequence[str]) -> exp.Expr:
    """The largest of the columns' relative distances: a row whose one sum is another is not the nearest by its other sum."""
    distances = [_distance(name) for name in names]
    return call("greatest", *distances) if len(distances) > 1 else distances[0]


def _distance(name: str) -> exp.Expr:
    """Relative to the larger value, absolute below 1; 0 for equal values, NULL and NaN among them."""
    mine, other = col(name, TARGET), col(name, SOURCE)
    equal = exp.NullSafeEQ(this=mine, expression=other)
    distance, size = _apart(mine.copy(), other.copy())
    return case((equal, to_type(number(0), "double")), otherwise=exp.Div(this=distance, expression=size))


def _apart(mine: exp.Expr, other: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    """How far two values are from one another, and what that is seen against: the larger of them, at least 1."""
    size = call("greatest", _absolute(mine.copy()), _absolute(other.copy()), number(1))
    return _absolute(exp.Sub(this=mine, expression=other)), size


def _absolute(value: exp.Expr) -> exp.Expr:
    return to_type(exp.Abs(this=value), "double")
