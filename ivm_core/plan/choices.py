"""Aggregate functions that SQL leaves a choice, made functions of their bag of values: evaluated again, they give the same.

What a batch takes back it computes a second time, from rows in another order. The value chosen is always one of those
that the function may give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import NondeterministicError
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import Aggregate, Named, Plan, Project, column, keep
from ivm_core.plan.rewrite import as_operand, condition_and_value, expect_expression, struct_of, value_where
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.scope import Context, complaint
from ivm_core.plan.types import is_comparable, typed

Types = Mapping[str, str | None]
COLLECTED = (exp.ArrayAgg, exp.ArrayUniqueAgg)
FIRST = (exp.First, exp.FirstValue)
LAST = (exp.Last, exp.LastValue)


def settle_aggregates(plan: Aggregate, context: Context) -> Plan:
    """γ_{k; first(x), collect_list(y)} Q → π_{k, f, sort_array(l)} γ_{k; f = min(x), l = collect_list(y)} Q"""
    types = types_of(plan.source)
    settled = [Named(each.name, settle(each.expression, types)) for each in plan.aggregates]
    lists = [each for each in settled if isinstance(each.expression, COLLECTED)]
    if not lists:
        return plan if tuple(settled) == plan.aggregates else replace(plan, aggregates=tuple(settled))
    for each in lists:
        _check_sortable(each.expression, types)
    in_one_order = [each for each in lists if not _of_distinct(each.expression)]
    together = in_one_order if len(in_one_order) > 1 else []
    collected: list[Named] = []
    shown: dict[str, exp.Expression] = {}
    for each in settled:
        if each not in lists:
            collected.append(each)
        elif each not in together or each is together[0]:
            unsorted = context.fresh(f"{context.hints[each.name][0]}_unsorted")
            collected.append(Named(unsorted, _as_one(together) if each in together else each.expression))
            in_order = exp.ArraySort(this=column(unsorted), nulls_first=exp.true())
            if each in together:
                shown.update((one.name, _part(in_order, place, one, types)) for place, one in enumerate(together))
            else:
                shown[each.name] = in_order
    columns = (Named(each.name, shown.get(each.name, column(each.name))) for each in plan.aggregates)
    keys = keep(tuple(key.name for key in plan.keys))
    return Project(replace(plan, aggregates=tuple(collected)), (*keys, *columns))


def take_from_one_row(plan: Aggregate, context: Context) -> Plan:
    """γ_{k; first(x), first(y)} Q → π_{k, f.x, f.y} γ_{k; f = first(struct(x, y))} Q; and so of last, with one FILTER, and
    of max_by and min_by with one key."""
    taken: list[Named] = []
    shown: dict[str, exp.Expression] = {}
    alike: dict[tuple[str, exp.Expr | None], list[Named]] = {}
    for each in plan.aggregates:
        choice = choice_of(each.expression)
        if choice is not None:
            alike.setdefault(choice, []).append(each)
    for _, several in sorted(alike.items(), key=lambda item: item[0][0]):
        if len(several) < 2:
            continue
        row, parts = parts_of_row(several, context)
        taken.append(Named(row, take_row([each.expression for each in several])))
        shown |= parts
    if not taken:
        return plan
    others = tuple(each for each in plan.aggregates if each.name not in shown)
    columns = (Named(each.name, shown.get(each.name, column(each.name))) for each in plan.aggregates)
    keys = keep(tuple(key.name for key in plan.keys))
    return Project(replace(plan, aggregates=(*others, *taken)), (*keys, *columns))


def choice_of(call: exp.Expression) -> tuple[str, exp.Expr | None] | None:
    """What tells the row that a call takes its value from: the function, and its FILTER or key; None where all rows do."""
    head, condition = head_of(call), _condition(call)
    if head is not call and condition is None:
        return None
    match head:
        case exp.ArgMax() | exp.ArgMin():
            return head.key, head.expression
        case exp.First() | exp.FirstValue():
            return "first", condition
        case exp.Last() | exp.LastValue():
            return "last", condition
    return None


def parts_of_row(several: Sequence[Named], context: Context) -> tuple[str, dict[str, exp.Expression]]:
    """A name for the row that ``take_row`` takes for these calls, and the value of each, by its name, as a part of it."""
    row = context.fresh(f"{context.hints[several[0].name][0]}_row")
    places = (exp.to_identifier(f"part_{place}") for place in range(len(several)))
    return row, {
        each.name: exp.Dot(this=column(row), expression=part) for each, part in zip(several, places, strict=True)
    }


def take_row(calls: Sequence[exp.Expression]) -> exp.Expression:
    """One call for several of one choice: their values as a struct, with the fields ``part_0``, ``part_1`` …"""
    values, condition = [_value(call) for call in calls], _condition(calls[0])
    call = head_of(calls[0]).copy()
    if isinstance(call, exp.ArgMax | exp.ArgMin):
        call.set("this", struct_of((f"part_{place}", value.copy()) for place, value in enumerate(values)))
    else:
        call.set("this", _row(values) if condition is None else value_where(condition, _row(values)))
    return call


def _condition(call: exp.Expression) -> exp.Expr | None:
    """``p`` of ``first(x) FILTER (WHERE p)``, or of last, as ``spell_aggregate`` spells it."""
    if not isinstance(call, exp.RespectNulls) or not isinstance(call.this, (*FIRST, *LAST)):
        return None
    return condition_and_value(call.this.this)[0]


def _value(call: exp.Expression) -> exp.Expression:
    """The ``x`` of such a call, and of one without FILTER."""
    value = head_of(call).this
    return expect_expression(value) if _condition(call) is None else condition_and_value(value)[1]


def _row(values: Sequence[exp.Expression]) -> exp.Expression:
    """The values of one row as a struct; the least of such structs has no NULL where there is another."""
    absent = [exp.Is(this=as_operand(value), expression=exp.null()) for value in values]
    fields = [(f"absent_{place}", missing) for place, missing in enumerate(absent)]
    return struct_of([*fields, *((f"part_{place}", value.copy()) for place, value in enumerate(values))])


def _of_distinct(call: exp.Expression) -> bool:
    return isinstance(call, exp.ArrayUniqueAgg) or isinstance(call.this, exp.Distinct)


def _as_one(lists: Sequence[Named]) -> exp.Expression:
    """``collect_list(x), collect_list(y)`` → ``collect_list(struct(x, y))``"""
    row = struct_of((f"part_{place}", each.expression.this.copy()) for place, each in enumerate(lists))
    return exp.ArrayAgg(this=row, nulls_excluded=True)


def _part(rows: exp.Expression, place: int, collected: Named, types: Types) -> exp.Expression:
    """The list that stands at one place of collected structs."""
    row, value = exp.to_identifier("row"), exp.to_identifier("value")
    field = exp.Dot(this=row.copy(), expression=exp.to_identifier(f"part_{place}"))
    values = exp.Transform(this=rows.copy(), expression=exp.Lambda(this=field, expressions=[row]))
    present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    part = exp.ArrayFilter(this=values, expression=exp.Lambda(this=present, expressions=[value]))
    return typed(part, type_of(collected.expression, types))


def settle(call: exp.Expression, types: Types) -> exp.Expression:
    """The call with its choice made: ``first(x)`` → ``min(x)``, ``max_by(x, y)`` → ``max_by(x, struct(y, x))`` …"""
    head = head_of(call)
    match head:
        case exp.AnyValue() | exp.First() | exp.FirstValue() | exp.Last() | exp.LastValue():
            return _extreme(head, types)
        case exp.ArgMax() | exp.ArgMin():
            return type(head)(this=head.this.copy(), expression=_with_value(head.expression, head.this, types))
        case exp.Anonymous() if sql_name(head) in ("max_by", "min_by") and len(head.expressions) == 3:
            value, key, number = head.expressions
            return exp.Anonymous(
                this=head.this, expressions=[value.copy(), _with_value(key, value, types), number.copy()]
            )
        case exp.Mode() if isinstance(head.this, exp.Expression) and is_comparable(type_of(head.this, types)):
            return exp.Mode(this=head.this.copy(), deterministic=exp.true())
        case exp.GroupConcat():
            return _in_order(head)
    return call


def head_of(call: exp.Expr) -> exp.Expression:
    """The function without IGNORE NULLS or RESPECT NULLS."""
    return expect_expression(call.this if isinstance(call, exp.IgnoreNulls | exp.RespectNulls) else call)


def _extreme(call: exp.Expression, types: Types) -> exp.Expression:
    """The least or greatest value, which is one of those there are; of maps, by their text."""
    value = expect_expression(call.this)
    last = isinstance(call, LAST)
    if is_comparable(type_of(value, types)):
        return (exp.Max if last else exp.Min)(this=value.copy())
    by = exp.ArgMax if last else exp.ArgMin
    return by(this=value.copy(), expression=_comparable(value, types))


def _with_value(key: exp.Expr, value: exp.Expr, types: Types) -> exp.Expression:
    """``y`` → ``struct(y, x)``, so that of rows with one ``y`` the values decide; still NULL where ``y`` is."""
    if key == value or isinstance(value, exp.Literal):
        return expect_expression(key.copy())
    both = struct_of((("key", key.copy()), ("value", _comparable(value, types))))
    present = exp.Not(this=exp.Is(this=as_operand(key), expression=exp.null()))
    return value_where(present, both)


def _in_order(call: exp.GroupConcat) -> exp.Expression:
    """``listagg(x) WITHIN GROUP (ORDER BY y)`` → ``… (ORDER BY y, x)``; DISTINCT values come in their own order."""
    target = call.this.this if isinstance(call.this, exp.Order) else call.this
    value = target.expressions[0] if isinstance(target, exp.Distinct) else target
    order = list(call.this.expressions) if isinstance(call.this, exp.Order) else []
    if any(item.this == value for item in order) or (order and isinstance(target, exp.Distinct)):
        return call
    items = [*(item.copy() for item in order), exp.Ordered(this=value.copy(), nulls_first=True)]
    settled = call.copy()
    settled.set("this", exp.Order(this=target.copy(), expressions=items))
    return settled


def _comparable(value: exp.Expr, types: Types) -> exp.Expression:
    copy = expect_expression(value.copy())
    return copy if is_comparable(type_of(value, types)) else exp.Anonymous(this="to_json", expressions=[copy])


def _check_sortable(call: exp.Expression, types: Types) -> None:
    if not is_comparable(type_of(call, types)):
        message = (
            "Collected maps or variants have no certain order, so the result would change from run to run. "
            "Collect to_json(x) instead."
        )
        raise complaint(NondeterministicError, message, call, sql_name(call))
