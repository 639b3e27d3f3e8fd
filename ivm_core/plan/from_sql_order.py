"""ORDER BY, LIMIT and OFFSET: an order matters only where it chooses rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError, NondeterministicError
from ivm_core.plan.block import Block
from ivm_core.plan.correlation import outer_row_keys
from ivm_core.plan.nodes import Filter, Limit, Named, Window, column
from ivm_core.plan.over import over
from ivm_core.plan.rewrite import both
from ivm_core.plan.scope import Relation, Scope, complaint, refusal

_ARITHMETIC: dict[type[exp.Expr], Callable[[int, int], int]] = {
    exp.Add: operator.add,
    exp.Sub: operator.sub,
    exp.Mul: operator.mul,
}


def order_items(query: exp.Expr, width: int) -> list[exp.Expression]:
    """The items of ORDER BY; ``ORDER BY ALL`` is every one of the query's ``width`` columns by its position."""
    clause = query.args.get("order")
    if clause is None or (query.args.get("limit") is None and query.args.get("offset") is None):
        return []
    items = list(clause.expressions)
    if len(items) == 1 and isinstance(items[0].this, exp.Var) and items[0].this.name.upper() == "ALL":
        return [_with_key(items[0], exp.Literal.number(position)) for position in range(1, width + 1)]
    return items


def ordinal(key: exp.Expr, count: int, clause: str) -> int | None:
    """``ORDER BY 2`` → 1, the place of the second of ``count`` items. Other numbers (1.5) are constants as in Spark."""
    if not isinstance(key, exp.Literal) or key.is_string or not str(key.this).isdigit():
        return None
    position = int(key.this)
    if not 1 <= position <= count:
        raise complaint(DefinitionError, f"{clause} {position}: there is no such column.", key, clause)
    return position - 1


def bind_limit(relation: Relation, query: exp.Expr, order: list[exp.Expression], scope: Scope) -> Relation:
    """LIMIT and OFFSET over an already bound order."""
    count, offset = row_count(query, "limit"), row_count(query, "offset") or 0
    if relation.at_most_one_row and offset:
        count, offset = 0, 0
    if (count is None and not offset) or (count and relation.at_most_one_row and relation.correlated):
        return relation
    if not order and count != 0 and not relation.at_most_one_row:
        raise complaint(
            NondeterministicError,
            "LIMIT without ORDER BY takes any rows, so the result would change from run to run. Add ORDER BY.",
            query.args.get("limit") or query.args.get("offset"),
            "LIMIT",
        )
    if relation.correlated and count == 0:
        return replace(relation, plan=Filter(relation.plan, exp.false()), one_row=False, at_most_one_row=True)
    if relation.correlated:
        return _limit_per_key(relation, query, order, count, offset, scope)
    return replace(
        relation,
        plan=Limit(relation.plan, tuple(order), count, offset),
        one_row=False,
        at_most_one_row=relation.at_most_one_row or count in (0, 1),
    )


def _limit_per_key(
    relation: Relation, query: exp.Expr, order: list[exp.Expression], count: int | None, offset: int, scope: Scope
) -> Relation:
    """In a correlated subquery: the first rows of those that meet one row around it, by their row numbers."""
    block = Block(scope, relation.plan, list(relation.correlated))
    keys = outer_row_keys(block)
    number = scope.context.fresh("row_number")
    window = over(exp.RowNumber(), keys, order)
    bounds: list[exp.Expression] = []
    if offset:
        bounds.append(exp.GT(this=column(number), expression=exp.Literal.number(offset)))
    if count is not None:
        bounds.append(exp.LTE(this=column(number), expression=exp.Literal.number(offset + count)))
    chosen = both(*bounds)
    assert chosen is not None
    plan = Filter(Window(block.plan, (Named(number, window),)), chosen)
    return replace(
        relation, plan=plan, correlated=tuple(block.correlated), one_row=False, at_most_one_row=count in (0, 1)
    )


def row_count(query: exp.Expr, clause: str) -> int | None:
    """The number in LIMIT or OFFSET; None without one and for LIMIT ALL."""
    node = query.args.get(clause)
    if node is None:
        return None
    value = node.args.get("expression") or node.args.get("count")
    if isinstance(value, exp.Var) and value.name.upper() == "ALL":
        return None
    count = _constant(value) if isinstance(value, exp.Expr) and not isinstance(node, exp.Fetch) else None
    if count is None:
        raise refusal(f"{clause.upper()} with an expression", node, "Write a number.")
    if not 0 <= count < 2**31:
        raise complaint(DefinitionError, f"{clause.upper()} {count}: Spark counts from 0 to 2147483647.", node, clause)
    return count


def _constant(value: exp.Expr) -> int | None:
    """The whole number that is computed from whole numbers by + - and *; None of anything else.

    Spark wants an INT: neither ``10 / 2``, which is a fraction, nor ``10 div 2``, a BIGINT.

    >>> from sqlglot import parse_one
    >>> [_constant(parse_one(text, dialect="spark")) for text in ("2 * (3 + 4)", "7 - -1", "4 / 2", "'2'")]
    [14, 8, None, None]
    """
    match value:
        case exp.Paren(this=inner):
            return _constant(inner)
        case exp.Neg(this=inner):
            count = _constant(inner)
            return None if count is None else -count
        case exp.Add() | exp.Sub() | exp.Mul():
            one, other = _constant(value.left), _constant(value.right)
            if one is None or other is None:
                return None
            return _ARITHMETIC[type(value)](one, other)
        case exp.Literal(is_string=False) if str(value.this).isdigit():
            return int(value.this)
        case _:
            return None


def _with_key(item: exp.Expression, key: exp.Expression) -> exp.Expression:
    item = item.copy()
    item.set("this", key)
    return item
