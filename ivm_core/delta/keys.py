"""Affected keys: the distinct keys that occur in a delta, and the part of a relation that has one of them.

K = distinct π_keys(ΔQ) is never wrong by being too large: a key whose rows cancel is recomputed to what it was.
Its columns are called ``__ivm_key_1`` …, so that they meet no column of the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from ivm_core.errors import NoRule
from ivm_core.plan.comparable import as_comparable
from ivm_core.plan.join_graph import equal_columns, equality
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    WEIGHT,
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Named,
    Plan,
    Project,
    UnionAll,
    column,
    keep,
    references,
)
from ivm_core.plan.rewrite import as_operand, both, expect_expression, substitute
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.types import FRACTIONAL, holds_floating, holds_variants, is_comparable, typed

KEY_PREFIX = f"{HIDDEN_PREFIX}key_"
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is)
_COMPARED = f"{HIDDEN_PREFIX}compared_"


def distinct_keys(delta: Plan, expressions: Sequence[exp.Expression], prefix: str = KEY_PREFIX) -> Aggregate:
    """K = distinct π_expressions(ΔQ), one column ``__ivm_key_<n>`` for each expression over ΔQ's columns.

    ``prefix``: of the columns' names, where they meet those of another K.

    Raises NoRule where a key's type cannot be compared. Without expressions K has one row if ΔQ has any.
    """
    types = types_of(delta)
    for expression in expressions:
        if not is_comparable(_type(expression, types)):
            raise NoRule(expression.sql("spark"), f"{_type(expression, types)} cannot be a key")
    if not expressions:
        return Aggregate(delta, (Named(f"{prefix}1", exp.Literal.number(1)),), ())
    return Aggregate(delta, tuple(Named(f"{prefix}{n}", e.copy()) for n, e in enumerate(expressions, start=1)), ())


def having_keys(plan: Plan, expressions: Sequence[exp.Expression], keys: Plan) -> Plan:
    """Q ⋉ K by ``expressions`` over Q's columns, null-safe: NULL keys are groups and partitions like others."""
    condition = both(
        *(
            exp.NullSafeEQ(this=as_operand(expression), expression=column(name))
            for expression, name in zip(expressions, keys.names, strict=True)
        )
    )
    return Join(plan, keys, JoinKind.SEMI, condition)


def having_equal(
    plan: Plan, other: Plan, conditions: Iterable[exp.Expression | None], prefix: str = KEY_PREFIX
) -> Join | None:
    """Q ⋉ π other by the columns that the conditions set equal; None where there are none of one type.

    ``prefix``: of the names of π other's columns. Equality carries over only within one type.
    """
    types, others = types_of(plan), types_of(other)
    pairs = [pair for condition in conditions for pair in equal_columns(condition, plan, other)]
    pairs = [pair for pair in pairs if types.get(pair[0]) == others.get(pair[1]) is not None]
    if not pairs:
        return None
    keys = distinct_keys(other, tuple(column(theirs) for _, theirs, _ in pairs), prefix)
    equal = (
        equality(mine, key, null_safe=null_safe) for (mine, _, null_safe), key in zip(pairs, keys.names, strict=True)
    )
    return Join(plan, keys, JoinKind.SEMI, both(*equal))


def touched_by(plan: Plan, delta: Plan, condition: exp.Expression | None) -> Plan:
    """L ⋉ ΔR by the join's own condition: the rows of L for which some changed row of R counts.

    Being the condition itself, it is right for any of them: theta joins and the null-aware NOT IN too. K has the columns
    that the condition reads or, where those cannot be compared or may be two zeros, what it makes of them.
    """
    types = types_of(delta)
    used = () if condition is None else tuple(name for name in delta.names if name in references(condition))
    if condition is not None and not all(_is_its_key(name, types[name], condition) for name in used):
        parts = _made_of(condition, frozenset(used))
        kinds = {part: type_of(part, types) for part, only_compared in parts.items() if not only_compared}
        as_text = {part: kind for part, kind in kinds.items() if kind in FRACTIONAL}
        keys = distinct_keys(delta, tuple(typed(part, "string") if part in as_text else part for part in parts))
        values = {p: typed(column(name), as_text.get(p)) for p, name in zip(parts, keys.names, strict=True)}
        replaced = condition.transform(lambda node: values[node].copy() if node in values else node)
        return Join(plan, keys, JoinKind.SEMI, expect_expression(replaced))
    keys = distinct_keys(delta, tuple(column(name) for name in used))
    on_keys: Mapping[str, exp.Expression] = {n: column(k) for n, k in zip(used, keys.names, strict=False)}
    return Join(plan, keys, JoinKind.SEMI, None if condition is None else substitute(condition, on_keys))


def _is_its_key(name: str, type_: str | None, condition: exp.Expression) -> bool:
    """Whether distinct values of a column are all that the condition tells apart; as a text -0.0 is another value than 0.0."""
    read = (node for node in condition.find_all(exp.Column) if node.name == name)
    return is_comparable(type_) and (not holds_floating(type_) or all(_is_compared(node) for node in read))


def _is_compared(node: exp.Expr) -> bool:
    return isinstance(node.parent, _COMPARISONS)


def _made_of(condition: exp.Expression, names: frozenset[str]) -> dict[exp.Expression, bool]:
    """The largest parts of the condition that read these columns only, and no parameter of a lambda function.

    With each, whether it is compared wherever it stands, and nothing else is made of it.
    """
    parts: dict[exp.Expression, bool] = {}

    def visit(node: exp.Expr, parameters: frozenset[str]) -> None:
        part = expect_expression(node)
        if isinstance(node, exp.Lambda):
            parameters |= {parameter.name for parameter in node.expressions}
        elif references(part) and references(part) <= names and not parameters & _identifiers(node):
            parts[part] = parts.get(part, True) and _is_compared(node)
            return
        for child in node.iter_expressions():
            visit(child, parameters)

    visit(condition, frozenset())
    return parts


def _identifiers(expression: exp.Expr) -> frozenset[str]:
    return frozenset(identifier.name for identifier in expression.find_all(exp.Identifier))


def is_restriction(plan: Plan) -> bool:
    """True for Q ⋉ K."""
    return isinstance(plan, Join) and plan.kind is JoinKind.SEMI and is_keys(plan.right)


def is_keys(plan: Plan) -> bool:
    """True for a relation K: all its columns are hidden, as no query's are, and none is a weight."""
    return WEIGHT not in plan.names and all(name.startswith(HIDDEN_PREFIX) for name in plan.names)


def difference(after: Plan, before: Plan) -> Plan:
    """Q⁺ − Q⁻ as one weighted relation, netted where its rows can be compared."""
    return net(UnionAll((weighted(after, 1), weighted(before, -1))))


def weighted(plan: Plan, weight: int) -> Project:
    """Every row of a relation with the same weight."""
    literal = exp.Literal.number(weight) if weight >= 0 else exp.Neg(this=exp.Literal.number(-weight))
    return Project(plan, (*keep(plan.names), Named(WEIGHT, exp.cast(literal, "bigint", dialect="spark"))))


def net(delta: Plan) -> Plan:
    """Equal rows added up, those with weight 0 dropped; unchanged where a column is not known to be comparable.

    -0.0 stays apart from 0.0, to which it is equal: what is computed above may tell them apart, as their texts do.
    """
    types = types_of(delta)
    known = all(types[name] is not None and is_comparable(types[name]) for name in delta.names if name != WEIGHT)
    return netted(delta, signed=True) if known else delta


def netted(delta: Plan, *, signed: bool = False) -> Plan:
    """Equal rows added up, those with weight 0 dropped; variants are equal where what is compared in their place is.

    ``signed``: -0.0 is not equal to 0.0. Spark's GROUP BY takes both for 0.0.
    """
    types = types_of(delta)
    zeros = [name for name in delta.names if signed and holds_floating(types[name])]
    odd = [*(name for name in delta.names if holds_variants(types[name])), *zeros]
    plain = keep(tuple(name for name in delta.names if name != WEIGHT and name not in odd))
    compared = [Named(f"{_COMPARED}{name}", as_comparable(column(name), types[name]) or column(name)) for name in odd]
    compared += [Named(f"{_COMPARED}sign_{name}", _signs(name, types[name])) for name in zeros]
    any_of_equal = (Named(name, exp.AnyValue(this=column(name))) for name in odd)
    weight = Named(WEIGHT, exp.Sum(this=column(WEIGHT)))
    summed = Aggregate(delta, (*plain, *compared), (*any_of_equal, weight))
    rows = Filter(summed, exp.NEQ(this=column(WEIGHT), expression=exp.Literal.number(0)))
    return Project(rows, keep(delta.names)) if odd else rows


def _signs(name: str, type_: str | None) -> exp.Expression:
    """What tells the zeros of a column apart; of a column with parts all of them, as text."""
    text = exp.cast(column(name), "string", dialect="spark")
    if type_ not in FRACTIONAL:
        return text
    zero = exp.EQ(this=column(name), expression=exp.Literal.number(0))
    return expect_expression(exp.Case(ifs=[exp.If(this=zero, true=text)]))


def is_net(plan: Plan) -> bool:
    """True for a relation as built by ``net``."""
    match plan:
        case Filter(Aggregate(_, _, (Named(name, exp.Sum()),)), exp.NEQ() as condition):
            return name == WEIGHT and references(condition) == {WEIGHT}
        case _:
            return False


def _type(expression: exp.Expression, types: Mapping[str, str | None]) -> str | None:
    return types.get(expression.name) if isinstance(expression, exp.Column) else type_of(expression, types)
