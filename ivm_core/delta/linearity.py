"""Which rule each operator of a plan is maintained by, and whether weights alone suffice for the whole plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.differentiate import common_partition
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
    references,
    walk,
)
from ivm_core.plan.rewrite import conjuncts


class Rule(StrEnum):
    """How an operator's delta is computed."""

    LINEAR = "linear"  # the same operator over the changes
    TERMS = "terms"  # one weighted term for each input
    AFFECTED_KEYS = "affected_keys"  # recomputed before and after, for the keys that occur in the changes
    WHOLE = "whole"  # recomputed before and after: nothing restricts it


@dataclass(frozen=True, slots=True)
class OperatorRule:
    """The rule of one operator. ``operator``: a few words that name it in the query; ``reason``: why this rule."""

    operator: str
    rule: Rule
    reason: str


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
            return OperatorRule(_name(plan), Rule.LINEAR, "works row by row")
        case Join(_, _, kind, condition):
            return _join_rule(plan, kind, condition)
        case Aggregate(_, keys):
            return _keyed(plan, tuple(key.expression for key in keys), "group")
        case Distinct():
            return OperatorRule(_name(plan), Rule.AFFECTED_KEYS, "local to a row's value")
        case SetOperation():
            return OperatorRule(_name(plan), Rule.AFFECTED_KEYS, "local to a row's value")
        case Window():
            return _keyed(plan, common_partition(plan), "partition")
        case Limit():
            return OperatorRule(_name(plan), Rule.WHOLE, "any row can enter or leave the first rows")
        case Recursive():
            return OperatorRule(f"recursion {plan.name}", Rule.WHOLE, "a changed row can lead to any other")
        case _:
            assert_never(plan)


def _join_rule(plan: Join, kind: JoinKind, condition: exp.Expression | None) -> OperatorRule:
    match kind:
        case JoinKind.INNER:
            return OperatorRule(_name(plan), Rule.TERMS, "one term for each changed input")
        case JoinKind.SEMI | JoinKind.ANTI | JoinKind.LEFT | JoinKind.RIGHT | JoinKind.FULL:
            names = set(plan.left.names), set(plan.right.names)
            linking = [c for c in conjuncts(condition) if all(references(c) & side for side in names)]
            if not linking:
                return OperatorRule(_name(plan), Rule.WHOLE, "no condition links its two sides")
            reason = "local to " + _listed(linking)
            return OperatorRule(_name(plan), Rule.AFFECTED_KEYS, reason)
        case _:
            assert_never(kind)


def _keyed(plan: Plan, keys: Sequence[exp.Expression], unit: str) -> OperatorRule:
    if not keys:
        return OperatorRule(_name(plan), Rule.WHOLE, f"one {unit} holds every row")
    return OperatorRule(_name(plan), Rule.AFFECTED_KEYS, f"local to a {unit}: {_listed(keys)}")


def _listed(expressions: Sequence[exp.Expression]) -> str:
    return ", ".join(_text(expression) for expression in expressions)


def _text(expression: exp.Expression) -> str:
    """SQL with quotes only where a name needs them."""

    def unquote(node: exp.Expr) -> exp.Expr:
        plain = isinstance(node, exp.Identifier) and node.name.isidentifier() and node.name.isascii()
        return exp.to_identifier(node.name) if plain else node

    return expression.transform(unquote).sql("spark")


def _name(plan: Plan) -> str:
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
