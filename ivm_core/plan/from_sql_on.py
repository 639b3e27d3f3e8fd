"""Subqueries in the ON of an outer, semi or anti join: each is joined to that side of the join whose rows it is about."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import UnsupportedConstruct
from ivm_core.plan.block import Block
from ivm_core.plan.nodes import JoinKind, Plan, references
from ivm_core.plan.rewrite import as_operand, both, conjuncts, expect_expression
from ivm_core.plan.scope import Scope, refusal
from ivm_core.plan.subqueries import apply_conditions, attach, is_in

# The side of which the join shows no row without a match: what ON asks of it alone may as well be asked below.
_FILTERED = {JoinKind.LEFT: 1, JoinKind.SEMI: 1, JoinKind.ANTI: 1, JoinKind.RIGHT: 0}


def join_subqueries(
    left: Plan, right: Plan, kind: JoinKind, condition: exp.Expression | None, scope: Scope, on: exp.Expr | None
) -> tuple[Plan, Plan, exp.Expression | None]:
    """L ⟕_{p AND q(L, S)} R → (L with q's value m) ⟕_{p AND m} R. Returns both sides and the condition, now plain.

    ``scope`` sees both sides; each subquery may look at the columns of one. ``on``: the condition as written.
    """
    # What the condition tells of the time are columns of the left side already.
    sides = tuple(Block(replace(scope, clock=None), side) for side in (left, right))
    parts: list[exp.Expression] = []
    for part in conjuncts(condition):
        _check_tests(part, on)
        below = _FILTERED.get(kind) if part.find(exp.Placeholder) else None
        if below is None or not _filter(sides[below], part):
            parts.append(_joined(part, sides, on))
    if any(not references(part) <= {*sides[0].plan.names, *sides[1].plan.names} for part in parts):
        raise refusal("an outer reference in the ON of an outer, semi or anti join", on)
    return sides[0].plan, sides[1].plan, both(*parts)


def _check_tests(part: exp.Expression, on: exp.Expr | None) -> None:
    """Raise UnsupportedConstruct for NOT IN, and for an IN whose value is asked for: in ON, Spark takes its NULL for false."""
    bare = part.unnest()
    if isinstance(bare, exp.And | exp.Or):
        for operand in (bare.left, bare.right):
            _check_tests(expect_expression(operand), on)
    elif not is_in(bare) and any(is_in(node) for node in bare.walk()):
        raise refusal(
            "a subquery after NOT IN, or whose IN is not a condition of its own, in the ON of an outer, semi or anti join",
            on,
            "Spark takes no account of NULL there. Write NOT EXISTS.",
        )


def _filter(side: Block, part: exp.Expression) -> bool:
    """Keep the side's rows for which the part is true; False if it asks for more than the side has."""
    trial = Block(side.scope, side.plan)
    if not references(part) <= set(side.plan.names):
        return False
    try:
        apply_conditions(trial, part)
    except UnsupportedConstruct:
        return False
    if not trial.correlated:
        side.plan = trial.plan
    return not trial.correlated


def _joined(part: exp.Expression, sides: tuple[Block, ...], on: exp.Expr | None) -> exp.Expression:
    """The part with a column of one of the sides in place of each subquery."""
    bare = expect_expression(part.unnest())
    if not bare.find(exp.Placeholder):
        return part
    if isinstance(bare, exp.And | exp.Or):
        one, other = (as_operand(_joined(expect_expression(operand), sides, on)) for operand in (bare.left, bare.right))
        return type(bare)(this=one, expression=other)
    for side in sides:
        trial = Block(side.scope, side.plan)
        if not references(bare) <= set(side.plan.names):
            continue
        try:
            value = attach(trial, bare)
        except UnsupportedConstruct:
            continue
        if references(value) <= set(trial.plan.names):
            side.plan = trial.plan
            return value
    raise refusal(
        "a subquery over both sides in the ON of an outer, semi or anti join", on, "Join the tables in a subquery."
    )
