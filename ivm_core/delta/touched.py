"""The left rows that a change touches, found without the rows that they are joined with."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ivm_core.delta.keys import touched_by
from ivm_core.delta.states import Tables, before
from ivm_core.plan.nodes import Filter, Join, JoinKind, Plan, Project, UnionAll, base_tables, keep, references

Differentiate = Callable[[Plan, Tables], Plan]


def touched_left(plan: Plan, names: frozenset[str], changed: Tables, differentiate: Differentiate) -> Plan | None:
    """Rows over ``names`` that have at least those of ΔQ, Q being L ⟕ R below filters and projections, names L's columns.

    π_L Δ(L ⟕ R) ⊆ π_L ΔL ∪ π_L (L⁻ ⋉ ΔR): which rows of L are touched is known before any of them meets R. None for
    any other plan. More rows than there are cost time where K is made of them, and never a wrong row.
    """
    match plan:
        case Join(left, right, JoinKind.LEFT, condition) if names and names <= set(left.names):
            kept = keep(tuple(name for name in left.names if name in names))
            rows: list[Plan] = []
            if base_tables(right) & changed:
                rows.append(touched_by(before(left, changed), differentiate(right, changed), condition))
            if base_tables(left) & changed:
                rows.append(touched_left(left, names, changed, differentiate) or differentiate(left, changed))
            return UnionAll(tuple(Project(row, kept) for row in rows))
        case Filter(source, condition):
            below = touched_left(source, names | references(condition), changed, differentiate)
            return Filter(below, condition) if below is not None else None
        case Project(source, columns):
            wanted = tuple(named for named in columns if named.name in names)
            if not all(isinstance(named.expression, exp.Column) for named in wanted):
                return None
            below = touched_left(source, frozenset(n.expression.name for n in wanted), changed, differentiate)
            return Project(below, wanted) if below is not None else None
        case _:
            return None
