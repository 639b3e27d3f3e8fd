"""Outer joins whose null-extended rows something above drops again: they are inner joins, whose deltas are linear."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import Filter, Join, JoinKind, Plan
from ivm_core.plan.rewrite import conjuncts

Names = frozenset[str]


def tighten_outer_join(plan: Plan) -> Plan:
    """σ_{b>1}(A ⟕ B) → σ_{b>1}(A ⋈ B); (A ⟕ B) ⋈_{b=c} C → (A ⋈ B) ⋈_{b=c} C; and for ⟖ and ⟗ likewise."""
    match plan:
        case Filter(Join() as join, condition):
            tight = _tighten(join, condition)
            return plan if tight is join else Filter(tight, condition)
        case Join(left, right, kind, condition) if condition is not None:
            drops_left = kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT)
            drops_right = kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.ANTI, JoinKind.LEFT)
            if drops_left and isinstance(left, Join):
                left = _tighten(left, condition)
            if drops_right and isinstance(right, Join):
                right = _tighten(right, condition)
            return plan if left is plan.left and right is plan.right else replace(plan, left=left, right=right)
        case _:
            return plan


def _tighten(join: Join, condition: exp.Expression) -> Join:
    """The join without the null-extended rows that the condition is never true for."""
    parts = conjuncts(condition)
    without_left = any(rejects_null(part, frozenset(join.left.names)) for part in parts)
    without_right = any(rejects_null(part, frozenset(join.right.names)) for part in parts)
    match join.kind:
        case JoinKind.INNER | JoinKind.SEMI | JoinKind.ANTI:
            return join
        case JoinKind.LEFT:
            return replace(join, kind=JoinKind.INNER) if without_right else join
        case JoinKind.RIGHT:
            return replace(join, kind=JoinKind.INNER) if without_left else join
        case JoinKind.FULL:
            if without_left and without_right:
                return replace(join, kind=JoinKind.INNER)
            if without_left:
                return replace(join, kind=JoinKind.LEFT)
            return replace(join, kind=JoinKind.RIGHT) if without_right else join
        case _:
            assert_never(join.kind)


def rejects_null(condition: exp.Expr, names: Names) -> bool:
    """True where the condition is certainly not true when all the named columns are NULL."""
    match condition:
        case exp.Paren():
            return rejects_null(condition.this, names)
        case exp.And():
            return rejects_null(condition.left, names) or rejects_null(condition.right, names)
        case exp.Or():
            return rejects_null(condition.left, names) and rejects_null(condition.right, names)
        case exp.Not(this=exp.Is(this=tested, expression=exp.Null())):
            return _is_null_for(tested, names)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() | exp.Like():
            return _is_null_for(condition.this, names) or _is_null_for(condition.expression, names)
        case exp.Between() | exp.In():
            return _is_null_for(condition.this, names)
        case exp.Not(this=exp.Paren(this=inner) | inner):
            # NOT p is true only where p is false, so p must be unknown.
            return isinstance(inner, exp.EQ | exp.NEQ | exp.Like | exp.Between | exp.In) and rejects_null(inner, names)
        case _:
            return False


def _is_null_for(expression: exp.Expr, names: Names) -> bool:
    """True where the expression is certainly NULL when all the named columns are."""
    match expression:
        case exp.Column():
            return expression.name in names
        case exp.Paren() | exp.Cast() | exp.Neg():
            return _is_null_for(expression.this, names)
        case exp.Add() | exp.Sub() | exp.Mul():
            return _is_null_for(expression.this, names) or _is_null_for(expression.expression, names)
        case _:
            return False
