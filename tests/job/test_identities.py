"""Identities of maintenance, for every construct: how changes are cut into batches, and which strategy each has, does not show.

Compared are whole states, hidden columns too, so that a difference that no reader sees yet is found.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

import duckdb
import pytest

from ivm_core.cost.model import Reason, Strategy
from ivm_core.job.build import batch_job, full_job
from ivm_core.job.compile import CompiledView
from tests.job.duckdb_jobs import AFTER, BEFORE, Row, bag, fill, run, stored, visible
from tests.job.test_meaning_duckdb import edited
from tests.plan.test_meaning import random_rows
from tests.sampling import one_in
from tests.support.constructs import Construct
from tests.support.in_duckdb import IN_DUCKDB, SCHEMAS, connect_examples
from tests.support.page import compiled_construct, compiled_query

STATE = "the_state"
KINDS = {name: tuple(type_ for _, type_ in columns) for name, columns in SCHEMAS.items()}
Rows = dict[str, list[Row]]
NESTED = (tuple, dict, bytes)


# Each identity for another third of the constructs.
def constructs(first: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("construct", one_in(3, IN_DUCKDB, first), ids=lambda construct: construct.name)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect_examples() as opened:
        yield opened


class Followed:
    """A view's state in DuckDB, brought from one set of rows to another."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, view: CompiledView, rows: Rows) -> None:
        self.connection, self.view = connection, view
        self.rebuild(rows)

    def rebuild(self, rows: Rows) -> Followed:
        for name, own in rows.items():
            fill(self.connection, stored(name, AFTER), own)
        self.rows = rows
        run(self.connection, full_job(self.view, Reason.REQUESTED), STATE)
        return self

    def follow(self, rows: Rows) -> Followed:
        for name, own in rows.items():
            fill(self.connection, stored(name, BEFORE), self.rows[name])
            fill(self.connection, stored(name, AFTER), own)
        changed = frozenset(name for name in self.view.tables if rows[name] is not self.rows[name])
        run(self.connection, batch_job(self.view, changed, Strategy.INCREMENTAL, Reason.LINEAR, None), STATE)
        self.rows = rows
        return self

    def state(self) -> Counter[Row]:
        if self.view.layout.first is not None:
            return self.visible()  # how many rows there are to spare depends on the batches before
        return bag(self.connection.execute(f"FROM {STATE}").fetchall())

    def visible(self) -> Counter[Row]:
        return bag(visible(self.connection, self.view, STATE))


def some_states(construct: Construct, number: int) -> list[Rows]:
    """Rows of the tables and edits of all of them, one after another; the construct's own, the same every time."""
    random = Random(zlib.crc32(construct.sql.encode()))
    states = [{name: random_rows(random, kinds, 6) for name, kinds in KINDS.items()}]
    while len(states) < number:
        states.append({name: edited(random, KINDS[name], own) for name, own in states[-1].items()})
    return states


@constructs(0)
def test_one_batch_leaves_what_two_leave(connection, construct):
    first, second, third = some_states(construct, 3)
    view = compiled_construct(construct)
    at_once = Followed(connection, view, first).follow(third).state()
    assert Followed(connection, view, first).follow(second).follow(third).state() == at_once


@constructs(1)
def test_a_change_and_its_inverse_restore_the_state(connection, construct):
    first, second = some_states(construct, 2)
    followed = Followed(connection, compiled_construct(construct), first)
    before = followed.state()
    assert followed.follow(second).follow(first).state() == before


@constructs(2)
def test_changes_that_net_to_nothing_leave_the_state(connection, construct):
    [first] = some_states(construct, 1)
    followed = Followed(connection, compiled_construct(construct), first)
    before = followed.state()
    shuffled = {name: rows[::-1] for name, rows in first.items()}
    assert followed.follow(shuffled).state() == before


@constructs(0)
def test_incremental_and_full_batches_mix_in_any_order(connection, construct):
    states = some_states(construct, 4)
    view = compiled_construct(construct)
    expected = Followed(connection, view, states[-1]).state()
    for fully in product((False, True), repeat=3):
        followed = Followed(connection, view, states[0])
        for rows, full in zip(states[1:], fully, strict=True):
            followed.rebuild(rows) if full else followed.follow(rows)
        assert followed.state() == expected, fully


@constructs(1)
def test_three_parts_of_a_view_maintained_apart_are_the_view(connection, construct):
    first, second, third = some_states(construct, 3)
    view = compiled_construct(construct)
    whole = Followed(connection, view, first).follow(second).follow(third).visible()
    scalar = [place for place in range(len(view.columns)) if not any(isinstance(row[place], NESTED) for row in whole)]
    if not scalar:
        pytest.skip("no column with a text that both engines write alike")
    condition = f"cast(`{view.columns[scalar[0]]}` as string) > '1'"
    parts: Counter[Row] = Counter()
    for part in (condition, f"not ({condition})", f"({condition}) is null"):
        sql = f"select * from ({construct.sql}) as whole where {part}"
        parts += Followed(connection, compiled_query(sql), first).follow(second).follow(third).visible()
    assert parts == whole
