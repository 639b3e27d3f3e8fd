"""Sums of floating-point numbers as functions of their bag of values, whatever order rows come in.

``sum`` adds in that order, so that another evaluation gives other last digits. Where these decide which rows a view has
(``HAVING sum(x) > 0.6`` below a join), a batch would take away what the state never had. Decimals add up exactly: numbers
of like size are added as such, three ranges of sizes apart, and the few that are larger or smaller as a list in their own
order. Binning by exponent is what reproducible sums do (Demmel and Nguyen, IEEE Transactions on Computers 64, 2015).
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp, parse_one

from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.inexact import adds_up
from ivm_core.plan.nodes import Aggregate, Named, Plan, Project, column, keep, walk
from ivm_core.plan.rewrite import expect_expression, substitute, transform_up
from ivm_core.plan.schema import type_of, types_of

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
_FOLD = "AGGREGATE({}, 0D, (added, addend) -> added + addend)"

# In each range numbers get 1 to 12 digits before the point: the 16 after it keep more than a DOUBLE has, and the sum has
# room for 10^10 of them.
_PART = "SUM(CASE WHEN {where} THEN CAST(x * {scale} AS DECIMAL(38, 16)) END)"
_EXTREME = "(ABS(x) >= 1E18D OR x <> 0 AND ABS(x) < 1E-18D)"
_PARTS = {
    "small": _PART.format(where=f"ABS(x) < 1E-6D AND NOT {_EXTREME}", scale="1E18D"),
    "middle": _PART.format(where="ABS(x) >= 1E-6D AND ABS(x) < 1E6D", scale="1E6D"),
    "large": _PART.format(where="ABS(x) >= 1E6D AND ABS(x) < 1E18D", scale="1E-6D"),
    "extreme": f"COLLECT_LIST(CASE WHEN {_EXTREME} THEN x END)",
    "count": "COUNT(x)",
}
_TOTAL = (
    "COALESCE(CAST(small AS DOUBLE), 0D) / 1E18D + COALESCE(CAST(middle AS DOUBLE), 0D) / 1E6D + "
    f"COALESCE(CAST(large AS DOUBLE), 0D) * 1E6D + COALESCE({_FOLD.format('SORT_ARRAY(extreme)')}, 0D)"
)

# Squares of deviations are added number by number, from a list: a group's, never the whole table's. The mean is bound to a
# name by a list of one: written where it is used, it would be computed for each number.
_LIST = {"list": "COLLECT_LIST(x)"}
_MEAN = f"{_FOLD.format('SORT_ARRAY(list)')} / SIZE(list)"
_DEVIATIONS = "TRANSFORM(SORT_ARRAY(list), number -> (number - mean) * (number - mean))"
_SQUARES = f"ARRAY_MAX(TRANSFORM(ARRAY({_MEAN}), mean -> {_FOLD.format(_DEVIATIONS)}))"
_OF_ALL = f"CASE WHEN SIZE(list) > 0 THEN {_SQUARES} / SIZE(list) END"
_OF_SAMPLE = f"CASE WHEN SIZE(list) > 1 THEN {_SQUARES} / (SIZE(list) - 1) END"

# By the aggregate: what of ``x`` is aggregated, and the value that it makes.
_VALUES: dict[type[exp.Expr], tuple[dict[str, str], str]] = {
    exp.Sum: (_PARTS, f"CASE WHEN count > 0 THEN {_TOTAL} END"),
    exp.Avg: (_PARTS, f"CASE WHEN count > 0 THEN ({_TOTAL}) / count END"),
    exp.VariancePop: (_LIST, _OF_ALL),
    exp.Variance: (_LIST, _OF_SAMPLE),
    exp.StddevPop: (_LIST, f"SQRT({_OF_ALL})"),
    exp.Stddev: (_LIST, f"SQRT({_OF_SAMPLE})"),
    exp.StddevSamp: (_LIST, f"SQRT({_OF_SAMPLE})"),
}


def with_ordered_sums(plan: Plan) -> Plan:
    """γ_{k; sum(x)} Q → π_{k, small + middle + large + fold(sort_array(extreme))} γ_{k; …} Q, and so of averages; of
    variances and deviations where there are keys.

    Other aggregates of floating-point numbers, those of DISTINCT and those of windows stay as they are.
    """
    taken = {name for node in walk(plan) for name in node.names}
    return transform_up(plan, lambda node: _ordered(node, taken) if isinstance(node, Aggregate) else node)


def _ordered(plan: Aggregate, taken: set[str]) -> Plan:
    types = types_of(plan.source)
    aggregates: list[Named] = []
    shown: list[Named] = []
    for each in plan.aggregates:
        call = each.expression
        parts, value = _VALUES.get(type(call), (_LIST, ""))
        of_numbers = value and type_of(call.this, types) in _NUMBERS and adds_up(call, types)
        if not of_numbers or (parts is _LIST and not plan.keys):
            aggregates.append(each)
            shown.append(Named(each.name, column(each.name)))
            continue
        names = {part: _fresh(f"{each.name}_{part}", taken) for part in parts}
        number = expect_expression(exp.cast(call.this.copy(), "double"))
        aggregates += (Named(names[part], substitute(_parsed(text), {"x": number})) for part, text in parts.items())
        made = substitute(_parsed(value), {part: column(name) for part, name in names.items()})
        shown.append(Named(each.name, expect_expression(exp.cast(made, "double"))))
    if tuple(aggregates) == plan.aggregates:
        return plan
    keys = keep(tuple(key.name for key in plan.keys))
    return Project(replace(plan, aggregates=tuple(aggregates)), (*keys, *shown))


def _parsed(text: str) -> exp.Expression:
    return expect_expression(parse_one(text, read=SparkAsWritten))


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
