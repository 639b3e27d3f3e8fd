"""The SELECT by which a view's state shows the view's rows, also where the state is of another plan than the query has now."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ivm_core.apply.names import col
from ivm_core.catalog.model import ViewRecord
from ivm_core.engine.model import STATE_TABLE
from ivm_core.job.compile import CompiledView
from ivm_core.plan.nodes import Filter, Limit, Window, operators


def shown_by(view: ViewRecord, compiled: CompiledView, columns: Iterable[str]) -> str | None:
    """The SELECT over a state with these columns; None where it would not give the view's rows before the next batch."""
    stored = {name.lower() for name in columns}
    if compiled.fingerprint == view.fingerprint and stored >= {name.lower() for name in compiled.layout.stored.names}:
        return compiled.visible_sql
    # The state is of another plan until the next batch, and shows what it can: the columns that it has. That is not enough
    # where rows are left out on reading.
    leaves_out = any(isinstance(node, Filter | Limit | Window) for node in operators(compiled.layout.visible))
    if leaves_out or not stored >= {name.lower() for name, _ in view.columns}:
        return None
    return exp.select(*(col(name) for name, _ in view.columns)).from_(STATE_TABLE).sql("spark")
