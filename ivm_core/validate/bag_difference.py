"""The difference of two bags as one SELECT: what must be empty for a view to be right.

Both sides are grouped by all columns and counted, the second side's counts negative; rows whose counts do not cancel
differ. Grouping makes NULL equal NULL, NaN equal NaN and −0.0 equal 0.0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from ivm_core.plan.nodes import HIDDEN_PREFIX

COPIES = f"{HIDDEN_PREFIX}copies"  # positive: copies missing in the view; negative: unexpected copies
RELATIVE_TOLERANCE = 1e-9


def bag_difference(expected: str, actual: str, columns: Sequence[str], approximate: Collection[str] = ()) -> exp.Query:
    """The rows in which the relations ``expected`` and ``actual`` differ, with ``COPIES``.

    ``approximate``: columns that come from sums of floating-point numbers, whose order no query fixes. They are
    compared per group of the other columns: equal counts, and sums equal up to ``RELATIVE_TOLERANCE``. A group that
    differs is shown once, with the sums of its approximate columns and the difference in copies, or 1 where only
    sums differ.
    """
    exact = [name for name in columns if name not in approximate]
    inexact = [name for name in columns if name in approximate]
    if not inexact:
        return _exact_difference(expected, actual, exact)
    return _approximate_difference(expected, actual, exact, inexact)


def count_rows(relation: str) -> exp.Select:
    """The number of rows of a relation, as column ``COPIES``."""
    return exp.select(_named(exp.Count(this=exp.Star()), COPIES)).from_(_table(relation))


def _exact_difference(expected: str, actual: str, columns: Sequence[str]) -> exp.Query:
    counted = []
    for relation, sign in ((expected, 1), (actual, -1)):
        count: exp.Expression = exp.Count(this=exp.Star())
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
    """Per group of the exact columns: counts, non-null counts and sums of the approximate columns on each side."""
    counts, sides = _column(COPIES), []
    for relation, sign in ((expected, 1), (actual, -1)):
        selected: list[exp.Expression] = [*_columns(exact), _named(exp.Literal.number(sign), COPIES)]
        for name in inexact:
            value = exp.cast(_column(name), "double")
            plain = exp.Coalesce(this=value, expressions=[exp.cast(exp.Literal.number(0), "double")])
            present = exp.Case(
                ifs=[exp.If(this=_is_null(name), true=exp.Literal.number(0))], default=exp.Literal.number(sign)
            )
            signed = exp.Neg(this=plain) if sign < 0 else plain
            selected += [
                _named(value.copy() if sign > 0 else exp.cast(exp.Null(), "double"), name),
                _named(signed, _part("difference", name)),
                _named(exp.Abs(this=plain.copy()), _part("size", name)),
                _named(present, _part("present", name)),
            ]
        sides.append(exp.select(*selected).from_(_table(relation)))
    both = exp.union(*sides, distinct=False).subquery("both")
    summed = exp.Sum(this=counts)
    differs: list[exp.Expression] = [exp.NEQ(this=summed, expression=exp.Literal.number(0))]
    for name in inexact:
        difference, size, present = (exp.Sum(this=_column(_part(p, name))) for p in ("difference", "size", "present"))
        allowed = exp.Mul(this=size, expression=exp.cast(exp.Literal.string(repr(RELATIVE_TOLERANCE)), "double"))
        # NaN and infinities make the difference NaN, which is not beyond the allowance of NaN or infinity.
        differs.append(exp.NEQ(this=present, expression=exp.Literal.number(0)))
        differs.append(exp.GT(this=exp.Abs(this=difference), expression=allowed))
    copies = exp.Case(
        ifs=[exp.If(this=exp.EQ(this=summed.copy(), expression=exp.Literal.number(0)), true=exp.Literal.number(1))],
        default=summed.copy(),
    )
    result = exp.select(
        *_columns(exact), *(_named(exp.Sum(this=_column(name)), name) for name in inexact), _named(copies, COPIES)
    ).from_(both)
    if exact:
        result = result.group_by(*_columns(exact))
    return result.having(exp.or_(*differs))


def _part(kind: str, name: str) -> str:
    return f"{HIDDEN_PREFIX}{kind}_{name}"


def _is_null(name: str) -> exp.Expression:
    return exp.Is(this=_column(name), expression=exp.Null())


def _columns(names: Sequence[str]) -> list[exp.Column]:
    return [_column(name) for name in names]


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _named(expression: exp.Expression, name: str) -> exp.Expression:
    return exp.alias_(expression, exp.to_identifier(name, quoted=True))


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
