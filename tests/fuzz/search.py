"""The search: random views, several traces each, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import duckdb

from tests.fuzz.case import Outcome, Result, View, check, compiled, open_database
from tests.fuzz.grammar import Queries
from tests.fuzz.shrink import reproducer, shrink
from tests.fuzz.tables import State, random_trace

TRACES = 10  # of each view: compiling it is most of the work
BATCHES = 2
DEPTHS = (0, 1, 1, 1, 2)


@dataclass
class Findings:
    """How many cases came to what, and the wrong ones in full. A case is one view with one trace of changes."""

    outcomes: Counter[str] = field(default_factory=Counter)
    views: int = 0
    batches: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return self.outcomes.total()

    def add(self, other: Findings) -> None:
        """Count the findings of another part of the search too."""
        self.outcomes += other.outcomes
        self.refusals += other.refusals
        self.views += other.views
        self.batches += other.batches
        self.wrong += other.wrong


def search_views(seeds: Iterator[int] | range, traces: int = TRACES) -> Findings:
    """Draw one view for each seed and run it through traces of its own."""
    found = Findings()
    with open_database() as connection:
        for seed in seeds:
            _search_view(connection, seed, traces, found)
    return found


def draw(seed: int) -> tuple[str, bool]:
    """The query of a seed, and whether its joins are cut into pieces."""
    random = Random(seed)
    return Queries(random).draw(random.choice(DEPTHS)), random.random() < 0.3


def draw_trace(seed: int, number: int, tables: tuple[str, ...]) -> list[State]:
    """The trace of a seed's view with the given number."""
    return random_trace(Random(f"{seed} {number}"), tables, BATCHES)


def _search_view(connection: duckdb.DuckDBPyConnection, seed: int, traces: int, found: Findings) -> None:
    sql, pieces = draw(seed)
    view = compiled(sql, pieces=pieces)
    found.views += 1
    if isinstance(view, Result):
        found.outcomes[view.outcome] += 1
        found.refusals[view.detail] += 1
        return
    for number in range(traces):
        trace = draw_trace(seed, number, view.tables)
        result = check(connection, view, trace)
        found.outcomes[result.outcome] += 1
        found.batches += result.jobs
        match result.outcome:
            case Outcome.WRONG:
                found.wrong.append(_report(connection, seed, number, view, trace, result))
                return
            case Outcome.UNTRANSLATED:
                found.refusals[f"{result.detail}: {sql}"] += 1
                return


def _report(
    connection: duckdb.DuckDBPyConnection, seed: int, number: int, view: View, trace: list[State], result: Result
) -> str:
    def is_wrong(sql: str, states: list[State]) -> bool:
        try:
            candidate = compiled(sql, pieces=view.pieces)
            return isinstance(candidate, View) and check(connection, candidate, states).outcome is Outcome.WRONG
        except Exception:  # a smaller case that breaks the harness itself shows nothing
            return False

    small, states = shrink(view.sql, trace, is_wrong)
    smaller = compiled(small, pieces=view.pieces)
    detail = check(connection, smaller, states).detail if isinstance(smaller, View) else ""
    return (
        f"seed {seed}, trace {number}{', in pieces' if view.pieces else ''}\n{view.sql}\n{result.detail}\n\n"
        f"Smallest case found:\n{reproducer(small, states)}\n{detail}"
    )
