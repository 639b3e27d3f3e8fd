"""The difference of two bags as one SELECT: what must be empty for a view to be right.

Both sides are grouped by all columns and counted, the second side's counts negative; rows whose counts do not cancel
differ. Grouping makes NULL equal NULL, NaN equal NaN and −0.0 equal 0.0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from ivm_core.apply.names import copies
from ivm_core.plan.nodes import HIDDEN_PREFIX

COPIES = f"{HIDDEN_PREFIX}copies"  # positive: copies missing in the view; negative: unexpected copies
RELATIVE_TOLERANCE = 1e-9
_UNEQUAL = f"{HIDDEN_PREFIX}unequal"
_SPECIAL = ("NaN", "Infinity", "-Infinity")


def bag_difference(expected: str, actual: str, columns: Sequence[str], approximate: Collection[str] = ()) -> exp.Query:
    """The rows in which the relations ``expected`` and ``actual`` differ, with ``COPIES``.

    ``approximate``: columns that come from sums of floating-point numbers, whose order no query fixes. They are
    compared per group of the other columns up to ``RELATIVE_TOLERANCE``: a single one value by value, the first with the
    first in order of size; of several, whose order of size two evaluations need not share, the counts, the sums and the
    sums of squares. What differs is shown once, with the sums of its approximate columns and the difference in copies,
    or 1 where only values differ.
    """
    exact = [name for name in columns if name not in approximate]
    inexact = [name for name in columns if name in approximate]
    if not inexact:
        return _exact_difference(expected, actual, exact)
    return _approximate_difference(expected, actual, exact, inexact)


def count_difference(difference: exp.Query, actual: str) -> exp.Select:
    """One row: a difference's copies that are ``missing`` and that are ``unexpected``, and the ``rows`` of ``actual``."""
    rows = exp.select(exp.Count(this=exp.Star())).from_(_table(actual))
    return exp.select(
        copies(COPIES, "missing"), copies(COPIES, "unexpected", removed=True), _named(rows.subquery(), "rows")
    ).from_(difference.subquery("difference"))


def _exact_difference(expected: str, actual: str, columns: Sequence[str]) -> exp.Query:
    counted = []
    for relation, sign in ((expected, 1), (actual, -1)):
        count: exp.Expr = exp.Count(this=exp.Star())
        if sign < 0:
            count = exp.Neg(this=count)
        # Counting each side first keeps equal rows from being shuffled one by one.
        counted.append(
            exp.select(*_columns(columns), _named(count, COPIES)).from_(_table(relation)).group_by(*_columns(columns))
        )
    both = exp.union(*counted, distinct=False)
    return (
        exp.select(*_columns(columns), _named(exp.Sum(this=_column(COPIES)), COPIES))
        .from_(both.subquery("counted"))
        .group_by(*_columns(columns))
        .having(exp.NEQ(this=exp.Sum(this=_column(COPIES)), expression=exp.Literal.number(0)))
    )


def _approximate_difference(expected: str, actual: str, exact: Sequence[str], inexact: Sequence[str]) -> exp.Query:
    """Per group of the exact columns: counts on each side, and the sums of the approximate columns with their sizes.

    NULL, NaN and the infinities are compared exactly: which of them a value is belongs to the group. So does its place
    among the values of the group where there is one approximate column.
    """
    sides = []
    groups = [*_columns(exact), *(_column(_part("kind", name)) for name in inexact)]
    alone = len(inexact) == 1
    for relation, sign in ((expected, 1), (actual, -1)):
        selected: list[exp.Expr] = [*_columns(exact), _named(exp.Literal.number(sign), COPIES)]
        for name in inexact:
            finite = _finite(name)
            selected += [
                _named(_kind(name), _part("kind", name)),
                _named(_double(_column(name)) if sign > 0 else _double(exp.Null()), name),
                _named(exp.Neg(this=finite) if sign < 0 else finite, _part("difference", name)),
                _named(exp.Abs(this=finite.copy()), _part("size", name)),
            ]
            if alone:
                by = exp.Order(expressions=[exp.Ordered(this=finite.copy(), nulls_first=True)])
                partition = [*_columns(exact), _kind(name)]
                place = exp.Window(this=exp.RowNumber(), partition_by=partition, order=by)
                selected.append(_named(place, _part("place", name)))
            else:
                square = exp.Mul(this=finite.copy(), expression=finite.copy())
                selected.append(
                    _named(exp.Neg(this=exp.Paren(this=square)) if sign < 0 else square, _part("squares", name))
                )
                selected.append(_named(square.copy(), _part("square", name)))
        sides.append(exp.select(*selected).from_(_table(relation)))
    both = exp.union(*sides, distinct=False).subquery("both")
    summed, zero, one = exp.Sum(this=_column(COPIES)), exp.Literal.number(0), exp.Literal.number(1)
    # A value without a counterpart moves all larger ones by a place: then only the count is told, of the whole group.
    tests = [("difference", "size")] if alone else [("difference", "size"), ("squares", "square")]
    unequal = exp.or_(*(_unequal(name, *parts) for name in inexact for parts in tests))
    places = [_column(_part("place", name)) for name in inexact] if alone else []
    sums = [_named(exp.Sum(this=_column(name)), name) for name in inexact]
    marked = exp.Case(ifs=[exp.If(this=unequal, true=one.copy())], default=zero.copy())
    pairs = exp.select(*groups, *sums, _named(summed, COPIES), _named(marked, _UNEQUAL)).from_(both)
    only_values = exp.If(this=exp.EQ(this=summed.copy(), expression=zero.copy()), true=one)
    differs = exp.NEQ(this=summed.copy(), expression=zero.copy())
    return (
        exp.select(
            *_columns(exact),
            *(each.copy() for each in sums),
            _named(exp.Case(ifs=[only_values], default=summed.copy()), COPIES),
        )
        .from_(pairs.group_by(*groups, *places).subquery("pairs"))
        .group_by(*(group.copy() for group in groups))
        .having(exp.or_(differs, exp.EQ(this=exp.Max(this=_column(_UNEQUAL)), expression=one.copy())))
    )


def _unequal(name: str, difference: str, size: str) -> exp.Expr:
    """The sum of differences is more than the tolerance of the sum of sizes, or of 1 where that is less, as numbers may add up
    to nearly 0; of sums past all numbers nothing is said."""
    differing, whole = (exp.Sum(this=_column(_part(part, name))) for part in (difference, size))
    larger = exp.Greatest(this=whole.copy(), expressions=[_double(exp.Literal.string("1"))], ignore_nulls=True)
    allowed = exp.Mul(this=larger, expression=_double(exp.Literal.string(repr(RELATIVE_TOLERANCE))))
    beyond = exp.GT(this=exp.Abs(this=differing), expression=allowed)
    finite = exp.LT(this=whole.copy(), expression=_double(exp.Literal.string("Infinity")))
    return exp.paren(exp.and_(beyond, finite))


def _kind(name: str) -> exp.Expr:
    """``null``, ``NaN``, ``Infinity``, ``-Infinity``, or nothing for an ordinary number."""
    text = exp.cast(_double(_column(name)), "string")
    special = exp.In(this=text.copy(), expressions=[exp.Literal.string(word) for word in _SPECIAL])
    branches = [
        exp.If(this=exp.Is(this=_column(name), expression=exp.Null()), true=exp.Literal.string("null")),
        exp.If(this=special, true=text),
    ]
    return exp.Case(ifs=branches, default=exp.Literal.string(""))


def _finite(name: str) -> exp.Expr:
    """The value, 0 where it is not an ordinary number."""
    ordinary = exp.EQ(this=_kind(name), expression=exp.Literal.string(""))
    return exp.Case(ifs=[exp.If(this=ordinary, true=_double(_column(name)))], default=_double(exp.Literal.number(0)))


def _double(expression: exp.Expr) -> exp.Expr:
    return exp.cast(expression, "double")


def _part(kind: str, name: str) -> str:
    return f"{HIDDEN_PREFIX}{kind}_{name}"


def _columns(names: Sequence[str]) -> list[exp.Column]:
    return [_column(name) for name in names]


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _named(expression: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(expression, exp.to_identifier(name, quoted=True))


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
