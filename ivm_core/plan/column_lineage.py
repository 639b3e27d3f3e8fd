"""Which columns of its tables a plan's columns are computed from, and which decide what rows it has.

Every operator says of its columns where they come from (``columns``), and what its rows depend on besides (``rows``): a
value that stands in neither for a column of the plan can be any other, and the column keeps its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.clock import CLOCK
from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
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
)
from ivm_core.plan.origins import Effect, Origin, Origins, deciding, origins_of, used_for


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """Where each column of a query comes from, in their order, and what the query's rows depend on besides."""

    columns: dict[str, tuple[Origin, ...]]
    rows: tuple[Origin, ...]


_NONE: Origins = frozenset()


@dataclass(frozen=True, slots=True)
class _Found:
    columns: dict[str, Origins]
    rows: Origins = _NONE

    def of(self, expression: exp.Expr) -> Origins:
        """What a scalar expression over these columns is computed from."""
        return origins_of(expression, self.columns)

    def ruled(self, effect: Effect, names: Iterable[str]) -> Origins:
        """The rows' origins, once columns of these names have the effect on them."""
        return self.rows | deciding(effect, (o for name in names for o in self.columns.get(name, _NONE)))


def column_lineage(plan: Plan) -> ColumnLineage:
    """The lineage of a query's plan. The clock is no table: what depends on the time only has no origin.

    >>> from ivm_core.plan.read_text import read_text
    >>> text = "Project a, c = b + 1\\n  Filter s = 'x'\\n    Scan shop.t [a: int, b: int, s: string]"
    >>> found = column_lineage(read_text(text))
    >>> {name: [(o.column, str(o.effect)) for o in origins] for name, origins in found.columns.items()}
    {'a': [('a', 'identity')], 'c': [('b', 'transformation')]}
    >>> [(o.column, str(o.effect)) for o in found.rows]
    [('s', 'filter')]
    """
    found = _Tracing().of(plan)
    return ColumnLineage({name: tuple(sorted(found.columns[name])) for name in plan.names}, tuple(sorted(found.rows)))


@dataclass(slots=True)
class _Tracing:
    """One pass over a plan; an operator that occurs twice as one object is looked at once."""

    rounds: Mapping[str, _Found] = field(default_factory=dict)
    done: dict[int, _Found] = field(default_factory=dict)

    def of(self, plan: Plan) -> _Found:
        if id(plan) not in self.done:
            self.done[id(plan)] = self._trace(plan)
        return self.done[id(plan)]

    def _trace(self, plan: Plan) -> _Found:
        match plan:
            case Scan(table, columns) | Changes(table, columns):
                known = () if table == CLOCK else columns
                own = {c.name: frozenset((Origin(table, c.source, Effect.IDENTITY),)) for c in known}
                return _Found({name: own.get(name, _NONE) for name in plan.names})
            case Values(names):
                return _Found(dict.fromkeys(names, _NONE))
            case Project(source, columns):
                below = self.of(source)
                return _Found(_computed(below, columns), below.rows)
            case Filter(source, condition):
                below = self.of(source)
                return _Found(below.columns, below.ruled(Effect.FILTER, references(condition)))
            case Join(left, right, kind, condition):
                both = self._both(left, right)
                rows = both.ruled(Effect.JOIN, () if condition is None else references(condition))
                kept = left.names if kind in (JoinKind.SEMI, JoinKind.ANTI) else (*left.names, *right.names)
                return _Found({name: both.columns[name] for name in kept}, rows)
            case UnionAll(inputs):
                return _joined(self.of(source) for source in inputs)
            case Aggregate(source, keys, aggregates):
                below = self.of(source)
                used = {name for key in keys for name in references(key.expression)}
                values = _computed(below, keys) | {
                    each.name: used_for(Effect.AGGREGATION, below.of(each.expression)) for each in aggregates
                }
                return _Found(values, below.ruled(Effect.GROUP_BY, used))
            case Distinct(source):
                below = self.of(source)
                return _Found(below.columns, below.ruled(Effect.GROUP_BY, source.names))
            case Window(source, functions):
                below = self.of(source)
                return _Found(below.columns | _computed(below, functions), below.rows)
            case SetOperation(left, right):
                found = _joined((self.of(left), self.of(right)))
                return _Found(self.of(left).columns, found.ruled(Effect.JOIN, left.names))
            case Generate(source, generator, outputs):
                below = self.of(source)
                made = used_for(Effect.TRANSFORMATION, below.of(generator))
                # As many rows as the array has values.
                rows = below.ruled(Effect.JOIN, references(generator))
                return _Found(below.columns | dict.fromkeys(outputs, made), rows)
            case Limit(source, order):
                below = self.of(source)
                used = {name for item in order for name in references(item)}
                return _Found(below.columns, below.ruled(Effect.SORT, used))
            case Recursive(name, base, step):
                return self._to_the_end(name, self.of(base), step)
            case Round(name, columns):
                before = self.rounds[name]
                return _Found({c.name: before.columns[c.source] for c in columns}, before.rows)
            case _:
                assert_never(plan)

    def _both(self, left: Plan, right: Plan) -> _Found:
        one, other = self.of(left), self.of(right)
        return _Found(one.columns | other.columns, one.rows | other.rows)

    def _to_the_end(self, name: str, found: _Found, step: Plan) -> _Found:
        """Round by round, until a round adds nothing: there are only so many columns and effects."""
        while True:
            again = _joined((found, _Tracing({**self.rounds, name: found}).of(step)))
            if again == found:
                return found
            found = again


def _computed(below: _Found, columns: Iterable[Named]) -> dict[str, Origins]:
    return {column.name: below.of(column.expression) for column in columns}


def _joined(parts: Iterable[_Found]) -> _Found:
    """Rows of several sources with the same columns, put together."""
    first, *rest = parts
    for part in rest:
        first = _Found({name: own | part.columns[name] for name, own in first.columns.items()}, first.rows | part.rows)
    return first
