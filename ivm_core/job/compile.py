"""A view's query compiled once: plan, state layout and fingerprint, from which every job of the view is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.delta.state import StateLayout, derive_state
from ivm_core.plan.explain import fingerprint
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.inexact import inexact_columns
from ivm_core.plan.nodes import Aggregate, Plan, Window, base_tables, walk
from ivm_core.plan.normalize import normalize
from ivm_core.plan.schema import TableSchema, types_of
from ivm_core.plan.to_sql import to_sql


@dataclass(frozen=True, slots=True)
class CompiledView:
    """A view's plan and what follows from it, independent of any batch."""

    name: str
    plan: Plan
    layout: StateLayout
    fingerprint: str

    @property
    def tables(self) -> tuple[str, ...]:
        """The base tables and upstream views that the view reads."""
        return tuple(sorted(base_tables(self.plan)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The visible columns."""
        return self.plan.names

    @property
    def approximate(self) -> frozenset[str]:
        """Visible floating columns that may differ in their last bits between two evaluations of the query itself.

        Sums of FLOAT and DOUBLE depend on the order in which Spark adds, and so does what is computed from them.
        """
        return frozenset(approximate_columns(self.plan)) & inexact_columns(self.plan)

    @property
    def visible_sql(self) -> str:
        """The SELECT that shows the view's columns, over a table called ``STATE_TABLE``."""
        return to_sql(self.layout.visible)


def compile_view(
    name: str, query: exp.Expression, tables: Mapping[str, TableSchema], default_schema: str = "default"
) -> CompiledView:
    """Compile a query over the given tables. Raises DefinitionError where the query is wrong or cannot be kept."""
    plan = normalize(from_sql(query, tables, default_schema))
    layout = derive_state(plan)
    return CompiledView(name, plan, layout, fingerprint(layout.stored))


def approximate_columns(plan: Plan) -> tuple[str, ...]:
    """The floating columns of a plan that adds floating-point numbers anywhere."""
    if not any(_adds_floats(node) for node in walk(plan)):
        return ()
    return tuple(name for name, type_ in types_of(plan).items() if type_ in _FLOATS)


_FLOATS = ("float", "double")


def _adds_floats(node: Plan) -> bool:
    match node:
        case Aggregate(aggregates=results) | Window(functions=results):
            types = types_of(node)
            exact = (exp.Min, exp.Max, exp.Count)
            return any(types.get(r.name) in (*_FLOATS, None) and not isinstance(r.expression, exact) for r in results)
        case _:
            return False
