"""Conditions of filters and joins: constants folded, common parts of OR taken out, each part once."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, JoinKind, Plan
from ivm_core.plan.rewrite import both, conjuncts, expect_expression


def spell_condition(plan: Plan) -> Plan:
    """(a AND b) OR (a AND c) → a AND (b OR c); p OR TRUE → TRUE; p OR NULL → p where only true counts."""
    match plan:
        case Filter(source, condition):
            spelled = simplify(condition)
            return plan if spelled == condition else Filter(source, spelled)
        case Join(_, _, kind, exp.Expression() as condition):
            spelled = simplify(condition)
            # A join without a condition is spelled without one.
            wanted = None if is_true(spelled) and kind == JoinKind.INNER else spelled
            return plan if wanted == condition else replace(plan, condition=wanted)
    return plan


def simplify(condition: exp.Expression) -> exp.Expression:
    """An expression that is true for the same rows; false and unknown are not told apart."""
    parts: list[exp.Expression] = []
    for part in conjuncts(condition):
        parts.extend(conjuncts(_disjunction(part)) if isinstance(part, exp.Or) else (_constant(part),))
    if any(is_false(part) for part in parts):
        return exp.false()
    return both(*(part for part in parts if not is_true(part))) or exp.true()


def disjuncts(expression: exp.Expr) -> tuple[exp.Expression, ...]:
    """The operands of OR, flattened and without outer parentheses."""
    bare = expression.unnest()
    if isinstance(bare, exp.Or):
        return (*disjuncts(bare.left), *disjuncts(bare.right))
    return (expect_expression(bare),)


def is_true(expression: exp.Expr) -> bool:
    return isinstance(expression, exp.Boolean) and bool(expression.this)


def is_false(expression: exp.Expr) -> bool:
    """False or unknown."""
    bare = expression.this if isinstance(expression, exp.Cast) else expression
    return isinstance(bare, exp.Null) or (isinstance(bare, exp.Boolean) and not bare.this)


def _disjunction(condition: exp.Expression) -> exp.Expression:
    options = [simplify(option) for option in disjuncts(condition)]
    if any(is_true(option) for option in options):
        return exp.true()
    options = list(dict.fromkeys(option for option in options if not is_false(option)))
    if not options:
        return exp.false()
    if len(options) == 1:
        return options[0]
    parts = [conjuncts(option) for option in options]
    shared = [part for part in parts[0] if all(part in other for other in parts[1:])]
    rests = [both(*(part for part in each if part not in shared)) for each in parts]
    if any(rest is None for rest in rests):  # (a) OR (a AND b) → a
        return both(*shared) or exp.true()
    if not shared and tuple(options) == disjuncts(condition):
        return condition
    alternatives = expect_expression(exp.or_(*(rest for rest in rests if rest is not None)))
    return both(*shared, alternatives) or exp.true()


def _constant(part: exp.Expression) -> exp.Expression:
    """``1 = 1`` and ``NOT FALSE`` as what they are."""
    match part:
        case exp.EQ(this=exp.Literal() as left, expression=exp.Literal() as right) if left == right:
            return exp.true()
        case exp.Not(this=exp.Boolean() as inner):
            return exp.false() if inner.this else exp.true()
    return part
