"""A view's query compiled once: plan, state layout and fingerprint, from which every job of the view is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.delta.state import StateLayout, derive_state
from ivm_core.plan.explain import fingerprint
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.inexact import approximate_columns
from ivm_core.plan.nodes import Plan, base_tables
from ivm_core.plan.normalize import normalize
from ivm_core.plan.padding import pad_texts
from ivm_core.plan.schema import TableSchema
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
        return approximate_columns(self.plan)

    @property
    def approximate_in_state(self) -> frozenset[str]:
        """The floating columns of the state that may differ so, whatever is made of them when it is read."""
        return approximate_columns(self.layout.stored)

    @property
    def visible_sql(self) -> str:
        """The SELECT that shows the view's columns, over a table called ``STATE_TABLE``."""
        return to_sql(self.layout.visible)


def compile_view(
    name: str, query: exp.Expression, tables: Mapping[str, TableSchema], default_schema: str = "default"
) -> CompiledView:
    """Compile a query over the given tables. Raises DefinitionError where the query is wrong or cannot be kept."""
    plan = normalize(pad_texts(from_sql(query, tables, default_schema), tables))
    layout = derive_state(plan)
    return CompiledView(name, plan, layout, fingerprint(layout.stored))
