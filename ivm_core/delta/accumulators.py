"""Aggregate functions as accumulators: what a group stores, how a batch changes it, how the visible value comes back.

A function is *mergeable* where its stored form over a bag union is the sum (or extreme) of the stored forms of the
parts, exactly: counts, sums of integers and decimals, and what follows from them. Sums of FLOAT and DOUBLE are not
associative, so they are not mergeable here; their groups are recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.delta.reasons import Code
from ivm_core.plan.nodes import HIDDEN_PREFIX, WEIGHT, Named, column
from ivm_core.plan.rewrite import as_operand
from ivm_core.plan.schema import type_of

COUNT = f"{HIDDEN_PREFIX}count"
# One batch never holds 10^10 copies of one row.
WEIGHT_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One hidden column of a group.

    ``combine``: ``add``, ``least`` or ``greatest``. ``argument``: the row-wise value that is summed or compared (None:
    rows are counted). ``nonnull``: count the rows whose argument is not NULL instead of adding it. ``type``: Spark type.
    """

    name: str
    combine: str
    type: str
    argument: exp.Expression | None = None
    nonnull: bool = False

    @property
    def stored(self) -> Named:
        """The aggregate call that computes the column over whole base tables."""
        argument = self.argument.copy() if self.argument is not None else None
        match self.combine:
            case "least":
                return Named(self.name, exp.Min(this=argument))
            case "greatest":
                return Named(self.name, exp.Max(this=argument))
        if argument is None:
            return Named(self.name, exp.Count(this=exp.Star()))
        if self.nonnull:
            return Named(self.name, exp.Count(this=argument))
        return Named(self.name, exp.Sum(this=argument))

    def finished(self) -> exp.Expression:
        """The stored column from the aggregate call's result: a sum over no values is 0, in the column's type."""
        if self.combine != "add" or self.argument is None or self.nonnull:
            return column(self.name)
        return exp.cast(exp.Coalesce(this=column(self.name), expressions=[exp.Literal.number(0)]), self.type)

    def changes(self) -> tuple[Named, ...]:
        """The aggregate calls over weighted changes; for extremes, the one of inserted and the one of deleted rows."""
        weight = column(WEIGHT)
        if self.combine != "add":
            call = exp.Min if self.combine == "least" else exp.Max
            assert self.argument is not None
            return (
                Named(self.name, call(this=_when(exp.GT(this=weight, expression=_zero()), self.argument))),
                Named(self.deleted, call(this=_when(exp.LT(this=weight.copy(), expression=_zero()), self.argument))),
            )
        if self.argument is None:
            return (Named(self.name, exp.Sum(this=weight)),)
        if self.nonnull:
            present = exp.Not(this=exp.Is(this=as_operand(self.argument), expression=exp.Null()))
            return (Named(self.name, exp.Sum(this=_when(present, weight, _zero()))),)
        factor = weight if self.type == "bigint" else exp.cast(weight, f"decimal({WEIGHT_DIGITS},0)")
        return (Named(self.name, exp.Sum(this=exp.Mul(this=as_operand(self.argument), expression=factor))),)

    def changed(self) -> exp.Expression:
        """The column's change from the aggregate calls of ``changes``, in the column's type; 0 where nothing was added."""
        if self.combine != "add":
            return column(self.name)
        return exp.cast(exp.Coalesce(this=column(self.name), expressions=[_zero()]), self.type)

    @property
    def deleted(self) -> str:
        """The name of the extreme among deleted rows, in a batch's changes."""
        return f"{self.name}_deleted"


@dataclass(frozen=True, slots=True)
class Accumulators:
    """The accumulators of all functions of an aggregate and, function by function, the expression of its visible value."""

    columns: tuple[Accumulator, ...]
    finish: tuple[exp.Expression, ...]


@dataclass(frozen=True, slots=True)
class Unmergeable:
    """The first function that is not mergeable, as it is written, and why."""

    call: str
    code: Code

    def __str__(self) -> str:
        return f"{self.call} cannot be merged exactly"


def accumulate(aggregates: tuple[Named, ...], types: Mapping[str, str | None]) -> Accumulators | Unmergeable:
    """Decompose aggregate functions, or say which one is not mergeable.

    ``types``: Spark types of the aggregate's input columns (None: unknown, then only counts are mergeable).
    """
    columns: dict[str, Accumulator] = {COUNT: Accumulator(COUNT, "add", "bigint")}
    numbers: dict[exp.Expression, int] = {}
    finish: list[exp.Expression] = []
    for aggregate in aggregates:
        call = aggregate.expression
        argument = call.this
        if isinstance(call, exp.Count) and isinstance(argument, exp.Star):
            finish.append(column(COUNT))
            continue
        outcome = None
        if isinstance(argument, exp.Expression) and not isinstance(argument, exp.Distinct) and not call.expressions:
            number = numbers.setdefault(argument, len(numbers) + 1)
            outcome = _decompose(call, argument, type_of(argument, types), number)
        if outcome is None:
            return Unmergeable(call.sql("spark"), _why_not(call, types))
        accumulators, value = outcome
        columns |= {a.name: a for a in accumulators}
        finish.append(value)
    return Accumulators(tuple(columns.values()), tuple(finish))


def _why_not(call: exp.Expression, types: Mapping[str, str | None]) -> Code:
    argument = call.this
    match call:
        case exp.AggFunc(this=exp.Distinct()):
            return Code.DISTINCT_AGGREGATE
        case exp.Sum() | exp.Avg():
            return Code.FLOATING_SUM if type_of(argument, types) in ("float", "double") else Code.WIDE_NUMBERS
        case _ if isinstance(call, _MOMENTS):
            return Code.MOMENTS
        case _:
            return Code.WHOLE_GROUP


_MOMENTS = (
    exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Corr, exp.CovarPop, exp.CovarSamp,
    exp.RegrSlope, exp.RegrIntercept, exp.RegrR2, exp.Skewness, exp.Kurtosis,
)  # fmt: skip


def _decompose(
    call: exp.Expression, argument: exp.Expression, type_: str | None, number: int
) -> tuple[tuple[Accumulator, ...], exp.Expression] | None:
    nonnull = Accumulator(f"{HIDDEN_PREFIX}nonnull_{number}", "add", "bigint", argument, nonnull=True)
    present = exp.GT(this=column(nonnull.name), expression=_zero())
    match call:
        case exp.Count():
            return (nonnull,), column(nonnull.name)
        case exp.CountIf():
            matched = _matched(argument, number)
            return (matched,), column(matched.name)
        case exp.LogicalOr() | exp.LogicalAnd():
            # Some value is true; none is false.
            matched = _matched(argument, number)
            bound = _zero() if isinstance(call, exp.LogicalOr) else column(nonnull.name)
            relation = exp.GT if isinstance(call, exp.LogicalOr) else exp.EQ
            return (matched, nonnull), _when(present, relation(this=column(matched.name), expression=bound))
        case exp.Sum():
            total = _sum(argument, type_, number)
            if total is None or type_ is None:
                return None
            visible = "bigint" if decimal_of(type_) is None else total.type
            shown = column(total.name) if visible == total.type else exp.cast(column(total.name), visible)
            return (total, nonnull), _when(present, shown)
        case exp.Avg():
            total = _sum(argument, type_, number)
            value = None if total is None or type_ is None else _average(total, nonnull, type_)
            return ((total, nonnull), _when(present, value)) if total is not None and value is not None else None
        case exp.Min() | exp.Max() if type_ in _ORDERED or (type_ is not None and decimal_of(type_) is not None):
            assert type_ is not None
            combine = "least" if isinstance(call, exp.Min) else "greatest"
            extreme = Accumulator(f"{HIDDEN_PREFIX}{combine}_{number}", combine, type_, argument)
            return (extreme,), column(extreme.name)
    return None


def _matched(condition: exp.Expression, number: int) -> Accumulator:
    """The number of rows for which a condition is true."""
    true = exp.If(this=exp.func("COALESCE", condition.copy(), exp.false()), true=exp.Literal.number(1))
    return Accumulator(f"{HIDDEN_PREFIX}true_{number}", "add", "bigint", exp.Case(ifs=[true]), nonnull=True)


_ORDERED = frozenset(
    {
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "string",
        "boolean",
        "date",
        "timestamp",
        "timestamp_ntz",
    }
)


def _sum(argument: exp.Expression, type_: str | None, number: int) -> Accumulator | None:
    name = f"{HIDDEN_PREFIX}sum_{number}"
    match type_:
        case "tinyint" | "smallint" | "int":
            return Accumulator(name, "add", "bigint", argument)
        case "bigint":
            # Kept in DECIMAL: partial sums of changes may pass 2^63 where the query's own sum does not.
            return Accumulator(name, "add", "decimal(30,0)", exp.cast(argument.copy(), "decimal(20,0)"))
        case None:
            return None
    digits = decimal_of(type_)
    if digits is None:
        return None
    precision, scale = digits
    # Adding two decimals of 38 digits keeps at least 6 digits of scale; with more of either, digits would be lost.
    if precision > 27 and scale > 6:
        return None
    return Accumulator(name, "add", f"decimal({min(38, precision + 10)},{scale})", argument)


def _average(total: Accumulator, count: Accumulator, type_: str) -> exp.Expression | None:
    """The average with Spark's own digits, None where they cannot be had from a sum and a count.

    Spark divides a DECIMAL sum by the count with 39 digits and rounds half up to scale + 4. The division is spelled so
    that at least 9 digits are left beyond the result's scale, which decides every rounding for up to 10^9 rows.
    """
    digits = decimal_of(type_)
    if digits is None:
        # Spark averages integers in DOUBLE: exact below 2^53, which 2^22 rows of the largest INT do not reach.
        exact = type_ in ("tinyint", "smallint", "int")
        double = exp.Div(this=exp.cast(column(total.name), "double"), expression=exp.cast(column(count.name), "double"))
        return double if exact else None
    precision, scale = digits
    result = f"decimal({min(38, precision + 4)},{min(38, scale + 4)})"
    if precision <= 15:
        rows = exp.cast(column(count.name), f"decimal({27 - precision},0)")
        return exp.cast(exp.Div(this=column(total.name), expression=rows), result)
    if precision > 32 or scale > 12 or (total.type.startswith("decimal(38") and precision > 28):
        return None
    rows = exp.cast(column(count.name), f"decimal({(37 - scale) // 2},0)")
    rest = exp.Mod(this=column(total.name), expression=rows)
    whole = exp.Div(this=exp.Paren(this=exp.Sub(this=column(total.name), expression=rest)), expression=rows.copy())
    fraction = exp.Div(this=exp.Paren(this=rest.copy()), expression=rows.copy())
    return exp.cast(
        exp.Add(
            this=exp.cast(whole, f"decimal({precision - scale + 1},0)"),
            expression=exp.cast(fraction, f"decimal({scale + 5},{scale + 4})"),
        ),
        result,
    )


def decimal_of(type_: str) -> tuple[int, int] | None:
    """Precision and scale of a DECIMAL type as Spark spells it, None for other types.

    >>> decimal_of("decimal(15,2)")
    (15, 2)
    """
    if not type_.startswith("decimal"):  # "void", for one, is no type that can be parsed
        return None
    parsed = exp.DataType.build(type_, dialect="spark")
    numbers = [int(parameter.name) for parameter in parsed.expressions]
    match numbers:
        case [precision, scale]:
            return precision, scale
        case [precision]:
            return precision, 0
        case _:
            return 10, 0


def _when(condition: exp.Expression, value: exp.Expression, otherwise: exp.Expression | None = None) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition, true=value.copy())], default=otherwise)


def _zero() -> exp.Expression:
    return exp.Literal.number(0)
