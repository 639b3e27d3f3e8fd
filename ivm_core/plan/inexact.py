"""Columns whose last digits depend on the order in which rows are added: sums of floating-point numbers, and what is made
of them. Such a value, computed again, need not equal the one computed before: it is no key, and cannot be taken back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.from_sql_aggregates import MODIFIERS, is_aggregate
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    references,
    sources,
    walk,
)
from ivm_core.plan.remembered import remembered
from ivm_core.plan.schema import type_of, types_of

_FLOATS = ("float", "double")
_SMALL = ("tinyint", "smallint", "int")  # their averages are exact: Spark adds integers below 2^53
# Of the values that are there, by their order, or counts of them; a user's own function is taken to be deterministic.
_EXACT = (
    exp.Min, exp.Max, exp.ArgMin, exp.ArgMax, exp.AnyValue, exp.First, exp.Last, exp.FirstValue, exp.LastValue, exp.NthValue,
    exp.Lag, exp.Lead, exp.Mode, exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.ArrayAgg,
    exp.ArrayUniqueAgg, exp.GroupConcat, exp.Count, exp.CountIf, exp.RegrCount, exp.BitwiseAndAgg, exp.BitwiseOrAgg,
    exp.BitwiseXorAgg, exp.PercentRank, exp.CumeDist, exp.AnonymousAggFunc,
)  # fmt: skip
_EXACT_NAMES = ("max_by", "min_by", "percentile", "percentile_cont", "percentile_disc", "count_min_sketch")


def is_inexact(plan: Plan) -> bool:
    """True where such values decide which rows the plan has."""
    return decided_by_sums(plan) is not None


def decided_by_sums(plan: Plan) -> Plan | None:
    """The first operator that keeps, joins, orders or groups rows by such values; None where there is none."""
    return next((node for node in walk(plan) if _decided_by(node)), None)


def unmatched_columns(plan: Plan) -> tuple[str, ...]:
    """The columns with such values that are no floating-point numbers, or may be none: one near to another cannot be told."""
    types = types_of(plan)
    return tuple(name for name in plan.names if name in inexact_columns(plan) and types.get(name) not in _FLOATS)


def approximate_columns(plan: Plan) -> frozenset[str]:
    """The floating-point columns with such values: another near to one may be the same."""
    types = types_of(plan)
    return frozenset(name for name in inexact_columns(plan) if types.get(name) in _FLOATS)


def exact_keys(keys: tuple[exp.Expression, ...], *inputs: Plan) -> tuple[exp.Expression, ...]:
    """The keys that do not depend on such sums: fewer keys find more rows, and none that was changed is missed."""
    inexact = frozenset().union(*map(inexact_columns, inputs))
    return tuple(key for key in keys if not references(key) & inexact)


@remembered
def inexact_columns(plan: Plan) -> frozenset[str]:
    """The plan's columns that hold such sums or are computed from them."""
    match plan:
        case Scan() | Changes() | Values() | Round():
            return frozenset()
        case Project(source, columns):
            return _computed(columns, inexact_columns(source))
        case Filter(source) | Limit(source) | Distinct(source):
            return inexact_columns(source)
        case Join(left, right):
            return (inexact_columns(left) | inexact_columns(right)) & frozenset(plan.names)
        case UnionAll() | SetOperation() | Recursive():
            # Inputs give their columns by position. A round of a recursion may add up what the one before it gave.
            positions = {
                place
                for source in sources(plan)
                for place, name in enumerate(source.names)
                if name in inexact_columns(source)
            }
            return frozenset(name for place, name in enumerate(plan.names) if place in positions)
        case Aggregate(source, keys, results):
            return _computed((*keys, *results), inexact_columns(source)) | _sums(results, source)
        case Window(source, functions):
            below = inexact_columns(source)
            return below | _computed(functions, below) | _sums(functions, source)
        case Generate(source, generator, outputs):
            below = inexact_columns(source)
            return below | (frozenset(outputs) if references(generator) & below else frozenset())
        case _:
            assert_never(plan)


def _computed(columns: Iterable[Named], below: frozenset[str]) -> frozenset[str]:
    return frozenset(column.name for column in columns if references(column.expression) & below)


def _sums(results: Iterable[Named], source: Plan) -> frozenset[str]:
    """The results of adding floating-point numbers, or integers as such."""
    below = types_of(source)
    return frozenset(result.name for result in results if _adds(result.expression, below))


def _adds(call: exp.Expression, below: dict[str, str | None]) -> bool:
    """Whether the aggregate may add floating-point numbers: where its type is not known, it may."""
    calls = (node for node in call.walk() if is_aggregate(node) and not isinstance(node, MODIFIERS))
    function = next(calls, None)
    if function is None or sql_name(function) in _EXACT_NAMES:
        return False
    depends_on_order = isinstance(function, exp.ApproxQuantile)  # a kind of quantile, which are exact
    if isinstance(function, _EXACT) and not depends_on_order:
        return False
    if type_of(call, below) not in (*_FLOATS, None):
        return False
    argument = function.this
    is_small = isinstance(argument, exp.Expression) and type_of(argument, below) in _SMALL
    return not (isinstance(function, exp.Avg) and is_small)


def _decided_by(plan: Plan) -> bool:
    match plan:
        case Filter(source, condition):
            return bool(references(condition) & inexact_columns(source))
        case Join(left, right, _, condition) if condition is not None:
            return bool(references(condition) & (inexact_columns(left) | inexact_columns(right)))
        case Limit(source, order):
            return any(references(key) & inexact_columns(source) for key in order)
        case Aggregate(source, keys):
            return any(references(key.expression) & inexact_columns(source) for key in keys)
        case Generate(source, generator):
            return bool(references(generator) & inexact_columns(source))
        case Distinct() | SetOperation():
            return bool(inexact_columns(plan))
        case _:
            return False
