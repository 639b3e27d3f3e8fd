"""The views of a query, each compiled once: its own, and those of its CTEs that are views of their own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from unittest.mock import patch

from sqlglot import exp, parse_one

from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta import first_rows
from ivm_core.errors import NoRule
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.facts import LARGE, TableFacts
from ivm_core.job.model import MaintenanceJob
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.schema import TableSchema, types_of
from tests.fuzz.oracle import oracle
from tests.fuzz.tables import TABLES

UPSTREAM = "up"  # how the names of CTEs begin that are views of their own


@dataclass
class View:
    """A query compiled once, with the jobs of its patterns of changed tables."""

    compiled: CompiledView
    facts: dict[str, TableFacts] | None
    query: str  # in DuckDB, of base tables alone
    _jobs: dict[frozenset[str], MaintenanceJob] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.compiled.name

    @property
    def state(self) -> str:
        return f"state_of_{self.name.rpartition('.')[2]}"

    def job(self, changed: frozenset[str]) -> MaintenanceJob:
        """The job of a batch in which exactly these tables have changes."""
        if changed not in self._jobs:
            try:
                job = batch_job(self.compiled, changed, Strategy.INCREMENTAL, Reason.LINEAR, self.facts)
            except NoRule:
                job = full_job(self.compiled, Reason.UNSUPPORTED_OPERATOR)
            self._jobs[changed] = job
        return self._jobs[changed]


def few_to_spare() -> AbstractContextManager[object]:
    """Let views of first rows have so few to spare that some batches read their tables, which have few rows themselves."""
    return patch.object(first_rows, "LEAST_SPARE", 0)


class Views:
    """The views of one query: those that it reads, its CTEs by the name of ``UPSTREAM``, then the query itself."""

    def __init__(self, sql: str, *, pieces: bool = False) -> None:
        """``pieces``: cut joins as before large tables. Raises DefinitionError where a query is refused."""
        self.sql, self.pieces = sql, pieces
        tables = dict(TABLES)
        self.views: list[View] = []
        for name, query, whole in _apart(_parsed(sql)):
            with few_to_spare():
                compiled = compile_view(f"f.{name}", query, tables, "f")
            # All are large, and some much larger than others.
            sizes = {table: LARGE * 8 ** (n % 3) for n, table in enumerate(compiled.tables)}
            facts = {name: TableFacts(size, _key(name, sql)) for name, size in sizes.items()} if pieces else None
            self.views.append(View(compiled, facts, oracle(whole)))
            types = types_of(compiled.plan)
            # Spark tells the others; here these are the results of functions of strings.
            columns = tuple((column, types.get(column) or "string") for column in compiled.columns)
            tables[f"f.{name}"] = TableSchema(f"f.{name}", columns)
        own = {view.name for view in self.views}
        self.tables = tuple(sorted({t for view in self.views for t in view.compiled.tables if t not in own}))
        self.read = {t for view in self.views for t in view.compiled.tables if t in own}  # views that others read
        self.schemas = {name: tables[name].columns for name in (*TABLES, *self.read)}


def _key(table: str, sql: str) -> tuple[str, ...]:
    """For half of the queries a declared key, which the rows do not keep: it leads plans, and must not lead them astray."""
    columns = TABLES[table].columns if table in TABLES else ()
    return tuple(name for name, _ in columns[: len(sql) % 2])


def _parsed(sql: str) -> exp.Query:
    tree = parse_one(sql, read=SparkAsWritten)
    assert isinstance(tree, exp.Query)
    return tree


def _apart(query: exp.Query) -> Iterable[tuple[str, exp.Query, exp.Query]]:
    """Name and query of each view, first those that others read, and its query as it would be without them."""
    with_ = query.args.get("with_")
    ctes = list(with_.expressions) if with_ is not None else []
    upstream = [cte for cte in ctes if cte.alias.startswith(UPSTREAM)]
    for place, cte in enumerate(upstream):
        whole = cte.this.copy()
        if place:
            whole.set("with_", exp.With(expressions=[earlier.copy() for earlier in upstream[:place]]))
        yield cte.alias, cte.this.copy(), whole
    final = query.copy()
    if upstream:
        others = [cte.copy() for cte in ctes if cte not in upstream]
        final.set("with_", exp.With(expressions=others) if others else None)
    yield "v", final, query
