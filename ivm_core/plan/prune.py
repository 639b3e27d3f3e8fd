"""Columns that nobody reads are dropped, down to the scans."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from ivm_core.plan.clock import clock_names
from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
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
    keep,
    references,
)

Names = frozenset[str]


def prune(plan: Plan, needed: Names) -> Plan:
    """The plan with at least the ``needed`` columns, in their order, and as few others as possible.

    A relation keeps one column even where only its number of rows matters. Rows and weights stay as they are.
    """
    match plan:
        case Scan(table, columns, at):
            kept = tuple(column for column in columns if column.name in needed) or columns[:1]
            return Scan(table, kept, at)
        case Changes(table, columns):
            return Changes(table, tuple(column for column in columns if column.name in needed) or columns[:1])
        case Values(names, types, rows):
            places = [place for place, name in enumerate(names) if name in needed] or [0]
            return Values(
                tuple(names[place] for place in places),
                tuple(types[place] for place in places),
                tuple(tuple(row[place] for place in places) for row in rows),
            )
        case Project(source, outputs):
            outputs = tuple(output for output in outputs if output.name in needed) or outputs[:1]
            return Project(prune(source, _references(*(output.expression for output in outputs))), outputs)
        case Filter(source, condition):
            return Filter(prune(source, needed | _references(condition)), condition)
        case Join(left, right, kind, condition):
            wanted = needed | (_references(condition) if condition is not None else frozenset())
            return Join(prune(left, wanted & set(left.names)), prune(right, wanted & set(right.names)), kind, condition)
        case UnionAll(sources):
            names = tuple(name for name in plan.names if name in needed) or plan.names[:1]
            pruned = (prune(source, frozenset(names)) for source in sources)
            return UnionAll(
                tuple(source if source.names == names else Project(source, keep(names)) for source in pruned)
            )
        case Aggregate(source, keys, aggregates):
            wanted_aggregates = tuple(aggregate for aggregate in aggregates if aggregate.name in needed)
            if not keys and not wanted_aggregates:
                wanted_aggregates = aggregates[:1]
            below = _references(*(named.expression for named in (*keys, *wanted_aggregates)))
            return Aggregate(prune(source, below), keys, wanted_aggregates)
        case Window(source, functions):
            functions = tuple(function for function in functions if function.name in needed)
            wanted = (needed & set(source.names)) | _references(*(f.expression for f in functions))
            inner = prune(source, wanted)
            return Window(_without_idle_clock(inner, wanted), functions) if functions else inner
        case Generate(source, generator, outputs, outer):
            return Generate(
                prune(source, (needed & set(source.names)) | _references(generator)), generator, outputs, outer
            )
        case Limit(source, order, count, offset):
            return Limit(prune(source, needed | _references(*order)), order, count, offset)
        case Distinct(source):
            return Distinct(_whole(source))
        case Recursive(name, base, step):
            return Recursive(name, _whole(base), _whole(step))
        case Round(name, columns):
            return Round(name, tuple(column for column in columns if column.name in needed) or columns[:1])
        case SetOperation(left, right, kind, bag):
            return SetOperation(_whole(left), _whole(right), kind, bag)
        case _:
            assert_never(plan)


def _whole(source: Plan) -> Plan:
    """Every column counts here; pruning goes on below."""
    names = source.names
    pruned = prune(source, frozenset(names))
    return pruned if pruned.names == names else Project(pruned, keep(names))


def _without_idle_clock(source: Plan, wanted: Names) -> Plan:
    """The time changes in every row: where nobody reads it, a partition must not change with it."""
    kept = tuple(name for name in source.names if name in wanted or name not in clock_names(source))
    return source if not kept or kept == source.names else Project(source, keep(kept))


def _references(*expressions: exp.Expression) -> Names:
    return frozenset(name for expression in expressions for name in references(expression))
