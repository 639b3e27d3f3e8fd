"""Columns of tables that a value comes from, and what a scalar expression does with each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from sqlglot import exp


class Effect(StrEnum):
    """What is done with a column: its values go into the result, or decide which values or rows do."""

    IDENTITY = "identity"
    TRANSFORMATION = "transformation"
    AGGREGATION = "aggregation"  # several rows' values in one
    CONDITIONAL = "conditional"  # the condition of a CASE
    WINDOW = "window"  # the partition or the order of a window function
    FILTER = "filter"
    JOIN = "join"
    GROUP_BY = "group_by"
    SORT = "sort"  # the order of a LIMIT

    @property
    def direct(self) -> bool:
        """True where the column's values go into the result."""
        return self in _DIRECT


_DIRECT = (Effect.IDENTITY, Effect.TRANSFORMATION, Effect.AGGREGATION)


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A column of a base table or of an upstream view, and what is done with it."""

    table: str
    column: str
    effect: Effect


Origins = frozenset[Origin]


def origins_of(expression: exp.Expr, columns: Mapping[str, Origins]) -> Origins:
    """Where the value of a scalar expression over these columns comes from."""
    return frozenset(
        Origin(origin.table, origin.column, _after(origin.effect, effect))
        for name, effect in _uses(expression)
        for origin in columns.get(name, ())
    )


def used_for(effect: Effect, origins: Iterable[Origin]) -> Origins:
    """The origins of values to which something more is done."""
    return frozenset(Origin(o.table, o.column, _after(o.effect, effect)) for o in origins)


def deciding(effect: Effect, origins: Iterable[Origin]) -> Origins:
    """The origins of values that decide about rows, whatever was done to the values before."""
    return frozenset(Origin(o.table, o.column, effect) for o in origins)


def _after(before: Effect, effect: Effect) -> Effect:
    """The effect of two in turn: what only decides about values does so whatever becomes of them."""
    if not before.direct or not effect.direct:
        return effect if before.direct else before
    return max(before, effect, key=_DIRECT.index)


def _uses(expression: exp.Expr) -> Iterator[tuple[str, Effect]]:
    """The columns that a scalar expression refers to, and what it does with each."""
    if isinstance(expression, exp.Column):
        yield expression.name, Effect.IDENTITY
        return
    own = _own_effect(expression)
    for part in expression.iter_expressions():
        effect = _INDIRECT.get((type(expression), part.arg_key), own)
        for name, inner in _uses(part):
            yield name, _after(inner, effect)


def _own_effect(expression: exp.Expr) -> Effect:
    match expression:
        case exp.Paren():
            return Effect.IDENTITY
        case exp.AggFunc():
            return Effect.AGGREGATION
        case _:
            return Effect.TRANSFORMATION


# Parts of an expression whose values do not go into the result: the conditions of CASE and IF, and those of OVER.
_INDIRECT: dict[tuple[type[exp.Expr], str | None], Effect] = {
    (exp.Case, "this"): Effect.CONDITIONAL,
    (exp.If, "this"): Effect.CONDITIONAL,
    (exp.Window, "partition_by"): Effect.WINDOW,
    (exp.Window, "order"): Effect.WINDOW,
}
