"""Views' queries compiled once per process, and anew where a view that they read has other columns by now."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import DefinitionError, SchemaChangedError
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.table_names import tables_of

Schemas = Mapping[str, TableSchema]


class CompiledViews:
    """The plans of views, by text of definition. ``schema``: what a plan may know of a table or upstream view."""

    def __init__(self, schema: Callable[[str], TableSchema]) -> None:
        self._schema = schema
        self._known: dict[str, tuple[str, Schemas, CompiledView]] = {}  # by the view's id, with what was compiled

    def of(self, view: ViewRecord) -> CompiledView:
        """The view's plan and layout. Raises SchemaChangedError where its query is wrong over what it reads now."""
        known = self._known.get(view.view_id)
        if known is not None and known[2].fingerprint != view.fingerprint and self.is_of_before(view):
            known = None  # another process gave the view another plan, as a table of its has other columns
        if known is None or known[0] != view.sql:
            try:
                query = parse_definition(view.sql).query
                # Not only those of the plan: EXISTS over a global aggregate, for one, needs none of its tables.
                schemas = {name: self._schema(name) for name in tables_of(query)}
                compiled = compile_view(view.name, query, schemas)
            except DefinitionError as error:
                raise SchemaChangedError(
                    f"The query of {view.name} no longer compiles over what it reads: {error.message} Run `ivm apply` with "
                    "the query changed, or give what it reads its columns back."
                ) from error
            known = self._known[view.view_id] = view.sql, schemas, compiled
        return known[2]

    def is_of_before(self, view: ViewRecord) -> bool:
        """Whether something that the view reads has other columns, types or keys than when it was compiled."""
        known = self._known.get(view.view_id)
        try:
            return known is not None and any(self._schema(name) != schema for name, schema in known[1].items())
        except DefinitionError:  # it is gone
            return True

    def forget(self, view_id: str) -> None:
        """Compile the view anew at the next use."""
        self._known.pop(view_id, None)
