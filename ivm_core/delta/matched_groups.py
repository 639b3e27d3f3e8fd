"""Groups of a left join by its left side, whose functions skip what has no match: of a union, whose delta is linear.

γ_k; f(e) (A ⟕_θ B) = γ_k; f(e) (π_{k, NULL} A ⊎ π_{k, e} (A ⋈_θ B)), where k is over A, e is NULL where B's columns are, and f
skips NULLs; likewise with 0 for NULL, where e is 0 there and never NULL, and f is a sum. A row of A by itself keeps its
group, its matches give the values: a batch need not know which rows of A have matches, before or after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ivm_core.delta.simplify_outer import tighten_outer_join
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    UnionAll,
    column,
    references,
)
from ivm_core.plan.normalize_joins import rejects_nulls, strict_in
from ivm_core.plan.rewrite import expect_expression, substitute, transform_down
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.types import typed

_KEY = f"{HIDDEN_PREFIX}grouped_"
_MATCHED = f"{HIDDEN_PREFIX}matched_"
_SKIP_NULLS = (exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalOr, exp.LogicalAnd)


def over_matches(plan: Plan) -> Plan:
    """The aggregate over its left side's rows and the matches; any other plan, and where a function counts both, as it is."""
    if not isinstance(plan, Aggregate) or (found := _left_join(plan)) is None:
        return plan
    join, keys, calls = found
    left, right = frozenset(join.left.names), frozenset(join.right.names)
    types = types_of(join)
    alone: dict[exp.Expression, exp.Expression | None] = {}
    for call in calls:
        for value in _arguments(call):
            made = _alone(value, call, right, type_of(value, types))
            if alone.setdefault(value, made) != made:
                return plan  # to count_if false is as good as NULL, to bool_and of the same condition it is not
    if not alone or None in alone.values() or not all(references(key.expression) <= left for key in keys):
        return plan
    if not all(_skips(call, [alone[value] for value in _arguments(call)]) for call in calls):
        return plan
    named = tuple(Named(f"{_KEY}{n}", key.expression) for n, key in enumerate(keys, start=1))
    names = {value: f"{_MATCHED}{n}" for n, value in enumerate(alone, start=1)}
    matches = transform_down(replace(join, kind=JoinKind.INNER), tighten_outer_join)
    rows: Plan = Project(matches, (*named, *(Named(name, value) for value, name in names.items())))
    zeros = not all(map(_is_null, alone.values()))
    if keys or zeros:  # without keys there is one group, with or without rows, but a sum of none is NULL, and not 0
        needed = frozenset(name for key in named for name in references(key.expression))
        nothing = tuple(Named(name, value) for name, value in zip(names.values(), alone.values(), strict=True) if value)
        rows = UnionAll((Project(_without_matches(join.left, needed), (*named, *nothing)), rows))
    columns = {value: column(name) for value, name in names.items()}
    return Aggregate(
        rows,
        tuple(Named(key.name, column(name.name)) for key, name in zip(keys, named, strict=True)),
        tuple(Named(a.name, _over(call, columns)) for a, call in zip(plan.aggregates, calls, strict=True)),
    )


def _left_join(plan: Aggregate) -> tuple[Join, tuple[Named, ...], tuple[exp.Expression, ...]] | None:
    """The left join that is grouped, with keys and calls over its columns."""
    calls = tuple(a.expression for a in plan.aggregates)
    match plan.source:
        case Join(kind=JoinKind.LEFT) as join:
            return join, plan.keys, calls
        case Project(Join(kind=JoinKind.LEFT) as join, columns):
            below = {named.name: named.expression for named in columns}
            keys = tuple(Named(key.name, substitute(key.expression, below)) for key in plan.keys)
            return join, keys, tuple(substitute(call, below) for call in calls)
        case _:
            return None


def _arguments(call: exp.Expression) -> Iterator[exp.Expression]:
    """What a function is over; of a DISTINCT one possibly several."""
    argument = call.this
    yield from map(expect_expression, argument.expressions if isinstance(argument, exp.Distinct) else (argument,))


def _alone(
    value: exp.Expression, call: exp.Expression, right: frozenset[str], type_: str | None
) -> exp.Expression | None:
    """What a function's argument is in a row without a match, NULL or 0; None where that is neither, or not known."""
    if type_ is None:
        return None
    if _is_null_with(value, right) or (isinstance(call, exp.CountIf) and rejects_nulls(value, right)):
        return typed(exp.null(), type_)
    return exp.cast(exp.Literal.number(0), type_, dialect="spark") if _is_zero_with(value, right) else None


def _skips(call: exp.Expression, alone: list[exp.Expression | None]) -> bool:
    """Whether rows without a match make no difference to the function, however many they are: NULLs, and of a sum zeros."""
    if not isinstance(call, _SKIP_NULLS) or call.expressions:
        return False
    null = [_is_null(value) for value in alone]
    return any(null) if isinstance(call.this, exp.Distinct) else isinstance(call, exp.Sum) or all(null)


def _is_null(value: exp.Expression | None) -> bool:
    return value is not None and isinstance(value.this if isinstance(value, exp.Cast) else value, exp.Null)


def _is_null_with(value: exp.Expr, right: frozenset[str]) -> bool:
    """Whether a value is NULL where the right side's columns are; CASE is where no condition is true."""
    match value:
        case exp.Paren():
            return _is_null_with(value.this, right)
        case exp.Case() if isinstance(value.args.get("default"), exp.Null | None):
            ways = value.args["ifs"]
            return all(_is_not_taken(way, value.this, right) or _is_null_with(way.args["true"], right) for way in ways)
        case exp.If() if isinstance(value.args.get("false"), exp.Null | None):
            return _is_not_taken(value, None, right) or _is_null_with(value.args["true"], right)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return rejects_nulls(value, right)
        case _:
            return strict_in(value, right)


def _is_zero_with(value: exp.Expr, right: frozenset[str]) -> bool:
    """Whether a value is 0 where the right side's columns are NULL, and never NULL itself."""
    match value:
        case exp.Paren():
            return _is_zero_with(value.this, right)
        case exp.Coalesce(this=first, expressions=[last]):
            return _is_zero(last) and _is_null_with(first, right)
        case exp.Case():
            numbers = all(isinstance(way.args["true"], exp.Literal) for way in value.args["ifs"])
            not_taken = all(_is_not_taken(way, value.this, right) for way in value.args["ifs"])
            return numbers and not_taken and _is_zero(value.args.get("default"))
        case exp.If():
            number = isinstance(value.args["true"], exp.Literal)
            return number and _is_not_taken(value, None, right) and _is_zero(value.args.get("false"))
        case _:
            return False


def _is_not_taken(way: exp.Expr, compared: exp.Expr | None, right: frozenset[str]) -> bool:
    """Whether the condition of a CASE's way is never true where the right side's columns are NULL."""
    return rejects_nulls(way.this, right) if compared is None else strict_in(compared, right)


def _is_zero(value: exp.Expr | None) -> bool:
    return isinstance(value, exp.Literal) and not value.is_string and value.this in ("0", "0.0", "0.00")


def _without_matches(plan: Plan, needed: frozenset[str]) -> Plan:
    """A plan with the same combinations of the needed columns, how often does not matter: A ⟕ B has those of A."""
    match plan:
        case Join(left, _, JoinKind.LEFT) if needed <= set(left.names):
            return _without_matches(left, needed)
        case Project(Join() as source, columns):
            kept = tuple(named for named in columns if named.name in needed)
            below = frozenset(name for named in kept for name in references(named.expression))
            return Project(_without_matches(source, below), kept) if kept else plan
        case Filter(Join() as source, condition):
            below = needed | references(condition)
            return Filter(_without_matches(source, below), condition)
        case _:
            return plan


def _over(call: exp.Expression, columns: dict[exp.Expression, exp.Column]) -> exp.Expression:
    """The function over the columns that hold its arguments."""
    copy = call.copy()
    if isinstance(copy.this, exp.Distinct):
        copy.this.set("expressions", [columns[argument].copy() for argument in _arguments(call)])
    else:
        copy.set("this", columns[expect_expression(call.this)].copy())
    return expect_expression(copy)
