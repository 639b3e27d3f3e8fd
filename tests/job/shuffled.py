"""Batches of one view over ``s.t`` and ``s.u``, whose tables show their rows in another order each time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from ivm_core.cost.model import Reason
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView
from ivm_core.job.strategy import strategy_of
from ivm_core.plan.schema import TableSchema
from tests.job.duckdb_jobs import AFTER, BEFORE, Row, bag, connect, fill, run, stored, visible

BATCHES = 4


def follow_shuffled(
    view: CompiledView,
    tables: Mapping[str, TableSchema],
    random: Random,
    facts: list[Row],
    more: Callable[[], list[Row]],
    kept: float,
) -> None:
    """After each batch the view is compared with one built anew. Of the ``facts`` a share is ``kept``, ``more`` are added.

    Every reading of a table sees its rows in another order, be it in one statement.
    """
    strategy, reason, _ = strategy_of(view)
    names: list[Row] = [(k, f"n{k % 2}") for k in range(3)]
    with connect({name: table.columns for name, table in tables.items()}) as connection:
        connection.execute(f"SELECT setseed({random.random()})")
        for table in (stored(name, state) for name in tables for state in (BEFORE, AFTER)):
            connection.execute(f"ALTER TABLE {table} RENAME TO {table}_rows")
            connection.execute(f"CREATE VIEW {table} AS FROM {table}_rows ORDER BY random() LIMIT 1000")

        def show(state: str) -> None:
            fill(connection, f"t{state}_rows", facts)
            fill(connection, f"u{state}_rows", names)

        show(AFTER)
        run(connection, full_job(view, Reason.FIRST_BUILD), "state")
        for _ in range(BATCHES):
            show(BEFORE)
            facts = [row for row in facts if random.random() < kept] + more()
            names = [row for row in names if random.random() < 0.8] + [(random.randrange(3), "n1")]
            show(AFTER)
            run(connection, batch_job(view, frozenset(view.tables), strategy, reason), "state")
            run(connection, full_job(view, Reason.FIRST_BUILD), "anew")
            assert bag(visible(connection, view, "state")) == bag(visible(connection, view, "anew"))
