"""A view's whole jobs in DuckDB, each statement planned once: only the rows differ between the traces of a view.

All tables are made before the first statement is planned, for whatever is created makes DuckDB plan all again.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp, parse_one

from ivm_core.apply import merge_groups
from ivm_core.delta.clock import PARAMETERS
from ivm_core.delta.state import STATE_TABLE
from ivm_core.job.model import RECOMPUTED_KEYS, Combine, Input, MaintenanceJob, Slice, Step
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.nodes import At
from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb
from tests.fuzz.tables import Row
from tests.job.duckdb_jobs import bounded_slice, connect, in_order, new_state, slice_of, stored

Instants = Mapping[At, object]
_NOON = exp.Literal.string("2024-01-31 12:00:00")


class TypesDiffer(Exception):
    """A job writes another DuckDB type than the first build did: rows could change when they are stored."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement and the instants that it takes."""

    name: str
    instants: tuple[At, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedJob:
    """``fills``: table and query, in order. ``lost``: the keys whose groups are ``recomputed`` if there are any."""

    fills: tuple[tuple[str, Prepared], ...]
    new: tuple[str, Prepared]
    lost: tuple[str, Prepared] | None = None
    recomputed: tuple[tuple[str, Prepared], ...] = ()
    new_with_recomputed: tuple[str, Prepared] | None = None


class Database:
    """A database in memory with base tables, empty before and after a batch, and the states of views."""

    def __init__(self, schemas: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self.connection = connect(schemas)
        self.connection.execute("PRAGMA disable_optimizer")  # planning would be most of the time
        self.connection.execute("SET TimeZone = 'UTC'")
        self._numbers = itertools.count(1)
        self._waiting: list[str] = []
        self._states: dict[str, list[str]] = {}

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def prepare(self, sql: str) -> Prepared:
        """A statement in DuckDB's SQL, with ``$clock_after`` and ``$clock_before`` for the batch's instants.

        It is there after ``plan``.
        """
        name = f"p{next(self._numbers)}"
        self._waiting.append(f"PREPARE {name} AS {sql}")
        return Prepared(name, tuple(at for at, parameter in PARAMETERS.items() if f"${parameter}" in sql))

    def plan(self) -> None:
        """Plan all statements. Raises duckdb.Error where DuckDB does not know a function."""
        for statement in self._waiting:
            self.connection.execute(statement)
        self._waiting.clear()

    def rows(self, prepared: Prepared, instants: Instants) -> list[Row]:
        """The statement's rows at the instants of a batch."""
        told = ", ".join(f"{PARAMETERS[at]} := TIMESTAMP '{instants[at]}'" for at in prepared.instants)
        return self.connection.execute(f"EXECUTE {prepared.name}" + (f"({told})" if told else "")).fetchall()

    def run(self, job: PreparedJob, state: str, instants: Instants) -> None:
        """Bring the table ``state`` from before the batch to after it."""
        for fill in job.fills:
            self._refill(fill, instants)
        new = job.new
        if job.lost is not None and job.new_with_recomputed is not None:
            self._refill(job.lost, instants)
            if self.connection.execute(f"FROM {job.lost[0]} LIMIT 1").fetchall():
                for fill in job.recomputed:
                    self._refill(fill, instants)
                new = job.new_with_recomputed
        self._refill(new, instants)
        self.connection.execute(f"DELETE FROM {state}")
        self.connection.execute(f"INSERT INTO {state} FROM {new[0]}")

    def _refill(self, fill: tuple[str, Prepared], instants: Instants) -> None:
        self.connection.execute(f"DELETE FROM {fill[0]}")
        self.rows(fill[1], instants)

    def prepare_job(self, job: MaintenanceJob, state: str) -> PreparedJob:
        """All that a job does; the first job prepared for a state makes its table.

        Raises TypesDiffer, and duckdb.Error where DuckDB does not know a function.
        """
        write, number = job.write, next(self._numbers)
        names = {name: f"{name}__{number}" for name in [i.name for i in job.inputs] + [s.name for s in job.steps]}
        fills = self._relations(job.inputs, job.steps, names, state)
        write = replace(write, step=names[write.step])
        new = self._new(new_state(write, state), state, number)
        if write.recompute is None or all(column.combine is Combine.ADD for column in write.merge):
            return PreparedJob(tuple(fills), new)
        lost = f"{RECOMPUTED_KEYS}__{number}"
        lost_keys = self._stored(lost, in_duckdb(merge_groups.lost_extremes(write, state, write.step), {}))
        # These inputs have names of their own kind, which the others may have too.
        again = {item.name: f"{item.name}__{number}_again" for item in write.recompute_inputs} | {RECOMPUTED_KEYS: lost}
        again[write.recompute.name] = f"{write.recompute.name}__{number}"
        recomputed = self._relations(write.recompute_inputs, [write.recompute], again)
        both = in_duckdb(merge_groups.rewrite_state(write, state, write.step, again[write.recompute.name]), {})
        return PreparedJob(tuple(fills), new, lost_keys, tuple(recomputed), self._new(both, state, next(self._numbers)))

    def _relations(
        self, inputs: Sequence[Input], steps: Sequence[Step], names: Mapping[str, str], state: str = ""
    ) -> list[tuple[str, Prepared]]:
        """Snapshots are views, changes tables: these are netted once."""
        fills = []
        for part in in_order(inputs, steps, [RECOMPUTED_KEYS]):
            name = names[part.name]
            if isinstance(part, Step):
                fills.append(self._stored(name, in_duckdb(part.sql, names)))
            elif part.slice is Slice.CHANGES:
                fills.append(self._stored(name, slice_of(part)))
            else:
                shown = f"FROM {state}" if part.slice is Slice.STORED else bounded_slice(part, names)
                self.connection.execute(f"CREATE OR REPLACE TEMP VIEW {_quoted(name)} AS {shown}")
        return fills

    def _stored(self, name: str, query: str) -> tuple[str, Prepared]:
        at_noon = query
        for parameter in PARAMETERS.values():
            at_noon = at_noon.replace(f"${parameter}", _NOON.sql())
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {_quoted(name)} AS {at_noon} WITH NO DATA")
        return _quoted(name), self.prepare(f"INSERT INTO {_quoted(name)} {query}")

    def _new(self, query: str, state: str, number: int) -> tuple[str, Prepared]:
        name, prepared = self._stored(f"__ivm_new_{number}", query)
        types = [row[1] for row in self.connection.execute(f"DESCRIBE {name}").fetchall()]
        if state not in self._states:
            self.connection.execute(f"CREATE TEMP TABLE {state} AS FROM {name}")
            self._states[state] = types
        elif types != self._states[state]:
            raise TypesDiffer(f"{self._states[state]} → {types}")
        return name, prepared

    def prepare_visible(self, query: str, state: str) -> Prepared:
        """What a reader of the view sees, in Spark's SQL over ``STATE_TABLE``."""
        return self.prepare(in_duckdb(query, {STATE_TABLE: state}))

    def fill(self, table: str, place: str, rows: Sequence[Row]) -> None:
        """Make these the rows of a base table in a state."""
        name = stored(table, place)
        self.connection.execute(f"DELETE FROM {name}")
        if rows:
            marks = f"({', '.join('?' for _ in rows[0])})"
            cells = [cell for row in rows for cell in row]
            self.connection.execute(f"INSERT INTO {name} VALUES {', '.join(marks for _ in rows)}", cells)


def in_duckdb(query: exp.Query | str, names: Mapping[str, str]) -> str:
    """A query of Spark's as DuckDB has it, of relations by other names."""
    tree = parse_one(query, read=SparkAsWritten) if isinstance(query, str) else query.copy()
    assert isinstance(tree, exp.Query)
    for table in list(tree.find_all(exp.Table)):
        if table.name in names and not table.db:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            table.set("this", exp.to_identifier(names[table.name], quoted=True))
    adapt_to_duckdb(tree)
    return tree.sql(dialect="duckdb", copy=False)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
