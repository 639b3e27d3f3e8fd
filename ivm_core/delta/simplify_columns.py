"""Columns that nobody reads, dropped at the leaves: narrower reads, and changes to unused columns cancel.

``Changes`` may lose columns only where its rows are counted by weight. Where they only have to be there, as in the
keys that a batch affects, netting over fewer columns would lose an update of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import (
    WEIGHT,
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
    keep,
    references,
    sources,
)
from ivm_core.plan.rewrite import with_sources

Names = frozenset[str]
Prune = Callable[[Plan, Names, bool], Plan]


def prune_columns(plan: Plan) -> Plan:
    """Project a over Scan (a, b, c) → Project a over Scan (a); ``Changes`` are netted over the columns left."""
    done: dict[tuple[int, Names, bool], Plan] = {}

    def prune(node: Plan, needed: Names, weighed: bool) -> Plan:
        # ``plan`` keeps its operators: an id is one operator's all the while.
        key = (id(node), needed, weighed)
        if key not in done:
            done[key] = _prune(node, needed, weighed, prune)
        return done[key]

    pruned = prune(plan, frozenset(plan.names), WEIGHT in plan.names)
    return pruned if pruned.names == plan.names else Project(pruned, keep(plan.names))


def _prune(plan: Plan, needed: Names, weighed: bool, prune: Prune) -> Plan:
    """The plan with at least the needed columns, in their order; ``prune`` does the same below: needs come from above.

    ``weighed``: whatever reads the rows adds up their weights.
    """
    match plan:
        case Scan(_, columns):
            kept = tuple(c for c in columns if c.name in needed) or columns[:1]
            return plan if kept == columns else replace(plan, columns=kept)
        case Changes(_, columns):
            if not weighed:
                return plan
            kept = tuple(c for c in columns if c.name in needed) or columns[:1]
            return plan if kept == columns else replace(plan, columns=kept)
        case Values():
            return plan
        case Project(source, columns):
            kept_columns = tuple(c for c in columns if c.name in needed) or columns[:1]
            below = prune(source, _used(c.expression for c in kept_columns), weighed)
            return _over(plan if len(kept_columns) == len(columns) else Project(source, kept_columns), below)
        case Filter(source, condition):
            return _over(plan, prune(source, needed | references(condition), weighed))
        case Join(left, right, kind, condition):
            wanted = needed | (references(condition) if condition is not None else frozenset())
            matched = weighed and kind not in (JoinKind.SEMI, JoinKind.ANTI)
            below_left = prune(left, wanted & frozenset(left.names), weighed)
            return _over(plan, below_left, prune(right, wanted & frozenset(right.names), matched))
        case UnionAll(inputs):
            return _over(plan, *_aligned(tuple(prune(each, needed, weighed) for each in inputs), needed))
        case Aggregate(source, keys, aggregates):
            # Keys make the groups, so all stay; a global aggregate keeps its row.
            kept_calls = tuple(a for a in aggregates if a.name in needed) or (() if keys else aggregates[:1])
            used = _used(c.expression for c in (*keys, *kept_calls))
            weighs = any(WEIGHT in references(call.expression) for call in kept_calls)
            kept_plan = plan if len(kept_calls) == len(aggregates) else Aggregate(source, keys, kept_calls)
            return _over(kept_plan, prune(source, used, weighs))
        case Window(source, functions):
            kept_functions = tuple(f for f in functions if f.name in needed)
            below = prune(source, (needed & set(source.names)) | _used(f.expression for f in kept_functions), False)
            if not kept_functions:
                return below
            return _over(plan if len(kept_functions) == len(functions) else Window(source, kept_functions), below)
        case Generate(source, generator):
            return _over(plan, prune(source, (needed & set(source.names)) | references(generator), weighed))
        case Limit(source, order):
            return _over(plan, prune(source, needed | _used(order), False))
        case Round():
            return plan
        case Distinct() | SetOperation() | Recursive():
            names = plan.names
            whole = (prune(source, frozenset(names), False) for source in sources(plan))
            return _over(plan, *(_exactly(each, names) for each in whole))
        case _:
            assert_never(plan)


def _over(plan: Plan, *below: Plan) -> Plan:
    """The operator over other inputs, the very same object where they are the same."""
    same = all(new is old for new, old in zip(below, sources(plan), strict=True))
    return plan if same else with_sources(plan, below)


def _aligned(inputs: tuple[Plan, ...], needed: Names) -> tuple[Plan, ...]:
    """The same columns in every input: where some kept more than is needed, exactly the needed ones."""
    if all(each.names == inputs[0].names for each in inputs):
        return inputs
    common = tuple(name for name in inputs[0].names if all(name in each.names for each in inputs))
    wanted = tuple(name for name in common if name in needed) or common[:1]
    return tuple(_exactly(each, wanted) for each in inputs)


def _exactly(plan: Plan, names: tuple[str, ...]) -> Plan:
    return plan if plan.names == names else Project(plan, keep(names))


def _used(expressions: Iterable[exp.Expression]) -> Names:
    return frozenset(name for expression in expressions for name in references(expression))
