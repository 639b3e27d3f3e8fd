"""The search: random views, several traces each, and what became of them."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from traceback import format_exc

from tests.fuzz.case import Outcome, Result, bench_of, views_of
from tests.fuzz.grammar import Queries
from tests.fuzz.shrink import reproducer, shrink
from tests.fuzz.tables import State, random_trace
from tests.fuzz.views import Views

TRACES = 20  # of each view: compiling it and its jobs is as much work as these
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
    with _rare_collections() as collect:
        for seed in seeds:
            try:
                _search_view(seed, traces, found)
            except Exception:  # the rest of a long search is still wanted
                found.wrong.append(f"seed {seed} ended the search of its view\n{format_exc(limit=-6)}")
            collect()
    return found


@contextmanager
def _rare_collections() -> Iterator[Callable[[], object]]:
    """Collect garbage between views only: within one, nearly all that is made is in use, and looking for the rest is a
    fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield lambda: gc.collect(1)
    finally:
        gc.collect()
        if was_enabled:
            gc.enable()


def draw(seed: int) -> tuple[str, bool]:
    """The query of a seed, and whether its joins are cut into pieces."""
    random = Random(seed)
    return Queries(random).draw(random.choice(DEPTHS)), random.random() < 0.3


def draw_trace(seed: int, number: int, tables: tuple[str, ...]) -> list[State]:
    """The trace of a seed's view with the given number."""
    return random_trace(Random(f"{seed} {number}"), tables, BATCHES)


def _search_view(seed: int, traces: int, found: Findings) -> None:
    sql, pieces = draw(seed)
    found.views += 1
    views = views_of(sql, pieces=pieces)
    drawn = [draw_trace(seed, n, views.tables) for n in range(traces)] if isinstance(views, Views) else []
    bench = bench_of(views, drawn) if isinstance(views, Views) else views
    if isinstance(bench, Result):
        found.outcomes[bench.outcome] += 1
        found.refusals[bench.detail if bench.outcome is Outcome.REFUSED else f"{bench.detail}: {sql}"] += 1
        return
    with bench:
        for number, trace in enumerate(drawn):
            result = bench.check(trace)
            found.outcomes[result.outcome] += 1
            found.batches += result.jobs
            if result.outcome is Outcome.WRONG:
                found.wrong.append(_report(seed, number, bench.views, trace, result))
                return


def _result(views: Views | Result, states: list[State]) -> Result:
    bench = bench_of(views, [states]) if isinstance(views, Views) else views
    if isinstance(bench, Result):
        return bench
    with bench:
        return bench.check(states)


def _report(seed: int, number: int, views: Views, trace: list[State], result: Result) -> str:
    @lru_cache(maxsize=1)
    def compiled(sql: str) -> Views | Result:
        return views_of(sql, pieces=views.pieces)

    def is_wrong(sql: str, states: list[State]) -> bool:
        try:
            return _result(compiled(sql), states).outcome is Outcome.WRONG
        except Exception:  # a smaller case that breaks the harness itself shows nothing
            return False

    small, states = shrink(views.sql, trace, is_wrong)
    return (
        f"seed {seed}, trace {number}{', in pieces' if views.pieces else ''}\n{views.sql}\n{result.detail}\n\n"
        f"Smallest case found:\n{reproducer(small, states)}\n{_result(compiled(small), states).detail}"
    )
