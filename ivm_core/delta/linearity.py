"""Which rule each operator of a plan is maintained by, and whether weights alone suffice for the whole plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.differentiate import common_partition
from ivm_core.delta.reasons import Code
from ivm_core.plan.inexact import exact_keys
from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    column,
    references,
    sources,
    walk,
)
from ivm_core.plan.rewrite import conjuncts
from ivm_core.plan.schema import type_of, types_of
from ivm_core.plan.types import is_comparable


class Rule(StrEnum):
    """How an operator's delta is computed."""

    LINEAR = "linear"  # the same operator over the changes
    TERMS = "terms"  # one weighted term for each input
    AFFECTED_KEYS = "affected_keys"  # recomputed before and after, for the keys that occur in the changes
    WHOLE = "whole"  # recomputed before and after: nothing restricts it


@dataclass(frozen=True, slots=True)
class OperatorRule:
    """The rule of one operator. ``operator``: a few words that name it in the query; ``reason``: why this rule, in words,
    and ``code`` as a code."""

    operator: str
    rule: Rule
    reason: str
    code: Code


def classify(plan: Plan) -> tuple[OperatorRule, ...]:
    """The rules of all operators but scans and literal rows, parents first, join by join."""
    return tuple(rule for node in walk(plan) if (rule := rule_of(node)) is not None)


def is_linear(plan: Plan) -> bool:
    """True where weights alone suffice: no operator has to be recomputed for keys or as a whole."""
    return all(rule.rule in (Rule.LINEAR, Rule.TERMS) for rule in classify(plan))


def rule_of(plan: Plan) -> OperatorRule | None:
    """The rule of one operator whose input changes; None for a leaf."""
    match plan:
        case Scan() | Changes() | Values() | Round():
            return None
        case Filter() | Project() | UnionAll() | Generate():
            return OperatorRule(rule_name(plan), Rule.LINEAR, "works row by row", Code.ROW_BY_ROW)
        case Join(_, _, kind, condition):
            return _join_rule(plan, kind, condition)
        case Aggregate(_, keys):
            return _keyed(plan, tuple(key.expression for key in keys), "group", (Code.GROUP_BELOW, Code.ONE_GROUP))
        case Distinct() | SetOperation():
            row = tuple(column(name) for name in plan.names)
            return _keyed(plan, row, "row's value", (Code.ROW_VALUE, Code.ROW_VALUE))
        case Window():
            return _keyed(plan, common_partition(plan), "partition", (Code.PARTITION, Code.ONE_PARTITION))
        case Limit():
            return OperatorRule(
                rule_name(plan), Rule.WHOLE, "any row can enter or leave the first rows", Code.FIRST_ROWS
            )
        case Recursive():
            return OperatorRule(
                f"recursion {plan.name}", Rule.WHOLE, "a changed row can lead to any other", Code.RECURSION
            )
        case _:
            assert_never(plan)


def _join_rule(plan: Join, kind: JoinKind, condition: exp.Expression | None) -> OperatorRule:
    match kind:
        case JoinKind.INNER:
            return OperatorRule(rule_name(plan), Rule.TERMS, "one term for each changed input", Code.JOIN_TERMS)
        case JoinKind.SEMI | JoinKind.ANTI | JoinKind.LEFT | JoinKind.RIGHT | JoinKind.FULL:
            names = set(plan.left.names), set(plan.right.names)
            linking = [c for c in conjuncts(condition) if all(references(c) & side for side in names)]
            if not linking:
                return OperatorRule(rule_name(plan), Rule.WHOLE, "no condition links its two sides", Code.UNLINKED_JOIN)
            reason = "local to " + _listed(linking)
            return OperatorRule(rule_name(plan), Rule.AFFECTED_KEYS, reason, Code.JOIN_KEY)
        case _:
            assert_never(kind)


def _keyed(plan: Plan, keys: Sequence[exp.Expression], unit: str, codes: tuple[Code, Code]) -> OperatorRule:
    if not keys:
        return OperatorRule(rule_name(plan), Rule.WHOLE, f"one {unit} holds every row", codes[1])
    below = (plan,) if isinstance(plan, SetOperation) else sources(plan)
    keys = exact_keys(tuple(keys), *below)
    if not keys:
        return OperatorRule(rule_name(plan), Rule.WHOLE, "a floating-point sum is no key", Code.FLOATING_SUM)
    types = types_of(sources(plan)[0])
    for key in keys:
        type_ = type_of(key, types)
        if not is_comparable(type_):
            return OperatorRule(
                rule_name(plan), Rule.WHOLE, f"{_text(key)} is a {type_}, which cannot be a key", Code.NO_RULE
            )
    listed = "" if codes[0] is Code.ROW_VALUE else f": {_listed(keys)}"
    return OperatorRule(rule_name(plan), Rule.AFFECTED_KEYS, f"local to a {unit}{listed}", codes[0])


def _listed(expressions: Sequence[exp.Expression]) -> str:
    return ", ".join(_text(expression) for expression in expressions)


def _text(expression: exp.Expression) -> str:
    """SQL with quotes only where a name needs them."""

    def unquote(node: exp.Expr) -> exp.Expr:
        plain = isinstance(node, exp.Identifier) and node.name.isidentifier() and node.name.isascii()
        return exp.to_identifier(node.name) if plain else node

    return expression.transform(unquote).sql("spark")


def rule_name(plan: Plan) -> str:
    """What an operator is called where its rule is told."""
    match plan:
        case Filter(_, condition):
            return f"filter {_text(condition)}"
        case Join(_, _, kind, condition):
            return f"{kind} join" + (f" on {_text(condition)}" if condition is not None else "")
        case Aggregate(_, keys, aggregates):
            calls = _listed([a.expression for a in aggregates]) or "distinct"
            return f"{calls} by {_listed([k.expression for k in keys])}" if keys else calls
        case Window(_, functions):
            return _listed([f.expression for f in functions])
        case SetOperation(_, _, kind, all_):
            return f"{kind} all" if all_ else str(kind)
        case Generate(_, generator):
            return _text(generator)
        case UnionAll():
            return "union all"
        case _:
            return type(plan).__name__.lower()
