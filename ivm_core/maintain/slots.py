"""Run views' work in dependency order, several at a time where there are slots for them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter

from ivm_core.catalog.model import ViewRecord
from ivm_core.engine.sharing import WORK_CLOCK
from ivm_core.maintain.auxiliaries import owner_of
from ivm_core.settings import Settings

MOST_AT_ONCE = 4  # more views wait for the planning that this process does, one thread at a time
_LOCAL = re.compile(r"local(?:\[(\*|\d+)[^\]]*\])?")


def order_of(views: Iterable[ViewRecord]) -> TopologicalSorter[str]:
    """The views after those of them that they read, and after their auxiliaries, read or not; ties by name."""
    return TopologicalSorter({name: sorted(names) for name, names in below_of(views).items()})


def below_of(views: Iterable[ViewRecord]) -> dict[str, set[str]]:
    """Of each view those of the others that it comes after: what it reads, and its auxiliaries."""
    chosen = {view.name: view for view in views}
    below = {name: set(view.tables) & chosen.keys() for name, view in sorted(chosen.items())}
    for name, view in chosen.items():
        owner = owner_of(view)
        if owner in below:
            below[owner].add(name)
    return below


def shared_tables(read: Iterable[Iterable[str]]) -> frozenset[str]:
    """The tables that more than one view reads, given those of each: one reading of their changes serves several.

    >>> sorted(shared_tables([("t", "u"), ("u", "v"), ("w", "w")]))
    ['u']
    """
    readers = Counter(table for tables in read for table in set(tables))
    return frozenset(table for table, number in readers.items() if number > 1)


def views_at_once(settings: Settings) -> int:
    """How many views of a run are maintained at a time: as set, or else by the cores that Spark has.

    >>> from ivm_core.settings_sections import SparkSettings
    >>> views_at_once(Settings(spark=SparkSettings(master="local[8]")))
    4
    """
    if settings.limits.views_at_once:
        return settings.limits.views_at_once
    local = _LOCAL.fullmatch(settings.spark.master)
    if local is None:
        return MOST_AT_ONCE
    cores = 1 if local[1] is None else (os.cpu_count() or 1) if local[1] == "*" else int(local[1])
    return min(cores, MOST_AT_ONCE)


def run_in_order(
    views: Sequence[ViewRecord],
    at_once: int,
    work: Callable[[ViewRecord], None],
    seconds: Callable[[], Mapping[str, float]] = dict,
) -> None:
    """Call ``work`` with every view, after the calls with the views that it reads have ended.

    With one slot in the given order, in this thread; with more in threads, at most ``at_once`` at a time, and of the
    views that could begin first that with the longest way above it, for the run cannot end before that way is gone.
    ``seconds``: tells what views are expected to take, by name; one that is not named takes one. Asked where there is a choice.
    The first exception of a call is raised when the calls that had begun are over; no other begins then.
    """

    def at_work(view: ViewRecord) -> None:
        with WORK_CLOCK.at_work():
            work(view)

    if at_once == 1 or len(views) < 2:
        for view in views:
            work(view)
        return
    by_name, above = {view.name: view for view in views}, _longest_ways(views, seconds())
    order = order_of(views)
    order.prepare()
    with ThreadPoolExecutor(at_once, thread_name_prefix="ivm-view") as pool:
        running: dict[Future[None], str] = {}
        ready: list[str] = []
        try:
            while order.is_active():
                ready = sorted((*ready, *order.get_ready()), key=lambda name: -above[name])
                begun, ready = ready[: at_once - len(running)], ready[at_once - len(running) :]
                running |= {pool.submit(at_work, by_name[name]): name for name in begun}
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for one in ended:
                    one.result()
                    order.done(running.pop(one))
        finally:
            pool.shutdown(cancel_futures=True)


def _longest_ways(views: Sequence[ViewRecord], seconds: Mapping[str, float]) -> dict[str, float]:
    """Of each view the seconds of it and of those that follow one upon the other above it, by the longest way."""
    below, ways = below_of(views), {view.name: seconds.get(view.name, 1.0) for view in views}
    for name in reversed([*order_of(views).static_order()]):
        for other in below[name]:
            ways[other] = max(ways[other], ways[name] + seconds.get(other, 1.0))
    return ways
