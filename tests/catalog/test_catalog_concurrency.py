"""Several processes on one catalogue, some of them killed."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import Intent, IntentState
from ivm_core.cost.model import Reason, Strategy
from tests.catalog.records import batch, done, view

# Fresh processes, forked from one that has only imported the package.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["ivm_core.catalog.catalog", "tests.catalog.records"])


def begin(url: str, view_id: str, to: int) -> Intent:
    """Ask for number 1 with data of one's own."""
    with Catalog.open(url) as catalog:
        asked = batch("gold.v", 1, to=to)
        return catalog.open_intent(view_id, "gold.v", asked, Strategy.INCREMENTAL, Reason.LINEAR, f"run {to}")


def test_processes_agree_on_one_intent(url: str) -> None:
    with Catalog.open(url) as catalog:
        known = catalog.add_view(view("gold.v"))
        with ProcessPoolExecutor(4, mp_context=PROCESSES) as processes:
            intents = list(processes.map(begin, [url] * 8, [known.view_id] * 8, range(1, 9)))
        assert set(intents) == {intents[0]} == set(catalog.open_intents())


def test_threads_agree_on_one_intent(url: str) -> None:
    with Catalog.open(url) as catalog:
        known = catalog.add_view(view("gold.v"))
        barrier = threading.Barrier(8)

        def together(to: int) -> Intent:
            barrier.wait()
            return begin(url, known.view_id, to)

        for _ in range(3):
            with ThreadPoolExecutor(8) as threads:
                intents = set(threads.map(together, range(1, 9)))
            assert intents == set(catalog.open_intents())
            assert len(intents) == 1


def test_one_catalogue_serves_many_threads(catalog: Catalog) -> None:
    names = [f"gold.v{number}" for number in range(8)]

    def work(name: str) -> None:
        known = catalog.add_view(view(name))
        for number in range(1, 6):
            catalog.open_intent(known.view_id, name, batch(name, number), Strategy.INCREMENTAL, Reason.LINEAR)
            catalog.add_batch(done(name, number), settle=IntentState.APPLIED)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, names))
    assert [item.last_batch.number if item.last_batch else None for item in catalog.activity()] == [5] * 8


def test_processes_create_one_schema(url: str) -> None:
    """Eight processes open an empty database at once."""
    with ProcessPoolExecutor(4, mp_context=PROCESSES) as processes:
        assert list(processes.map(count_views, [url] * 8)) == [0] * 8


def count_views(url: str) -> int:
    with Catalog.open(url) as catalog:
        return len(catalog.views())


@contextmanager
def running(work: Callable[[str, Connection], None], url: str) -> Iterator[BaseProcess]:
    """A process that has said it is ready; killed at the end of the block, if not before."""
    here, there = PROCESSES.Pipe()
    process = PROCESSES.Process(target=work, args=(url, there))
    process.start()
    there.close()
    try:
        assert here.recv() == "ready"
        yield process
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()


def hold_lock(url: str, ready: Connection) -> None:
    with Catalog.open(url) as catalog, catalog.lock("gold.v", 5) as held:
        ready.send("ready" if held else "not held")
        time.sleep(120)


def test_lock_is_freed_when_its_holder_is_killed(url: str) -> None:
    with Catalog.open(url) as catalog:
        with running(hold_lock, url):
            with catalog.lock("gold.v") as held:
                assert not held
            with catalog.lock("gold.w") as held:
                assert held
        with catalog.lock("gold.v", wait_seconds=30) as held:
            assert held


def test_lock_is_handed_over_while_waiting(url: str) -> None:
    """The holder is killed while another waits."""
    with Catalog.open(url) as catalog, running(hold_lock, url) as holder:
        threading.Timer(0.3, holder.kill).start()
        with catalog.lock("gold.v", wait_seconds=30) as held:
            assert held


def test_lock_excludes_threads_and_waits(catalog: Catalog) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> bool:
        with catalog.lock("gold.v", wait_seconds=30) as held:
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.02)
            inside.remove(number)
            return held

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(6)))
    assert max(most) == 1


def test_waiting_for_a_lock_ends(catalog: Catalog) -> None:
    with catalog.lock("gold.v") as outer:
        assert outer
        begun = time.monotonic()
        with catalog.lock("gold.v", wait_seconds=0.3) as inner:
            assert not inner
        assert time.monotonic() - begun >= 0.3
    with catalog.lock("gold.v") as after:
        assert after


def test_waiting_for_a_lock_outlasts_the_servers_time_for_a_statement(postgres) -> None:
    url = f"{postgres.create_schema()}%20-cstatement_timeout%3D200"
    with Catalog.open(url) as catalog, catalog.lock("gold.v"), catalog.lock("gold.v", wait_seconds=0.8) as inner:
        assert not inner


def test_lock_is_freed_by_an_exception(catalog: Catalog) -> None:
    try:
        with catalog.lock("gold.v"):
            raise KeyError("x")
    except KeyError:
        pass
    with catalog.lock("gold.v") as held:
        assert held


def write_batches(url: str, ready: Connection) -> None:
    """Finish what is open, then batch after batch until killed."""
    with Catalog.open(url) as catalog:
        view_id = catalog.view("gold.v").view_id
        number = catalog.last_number(view_id)
        for intent in catalog.open_intents("gold.v"):
            catalog.add_batch(done("gold.v", intent.number, to=intent.number), settle="applied")
        ready.send("ready")
        while True:
            number += 1
            asked = batch("gold.v", number, to=number)
            catalog.open_intent(view_id, "gold.v", asked, Strategy.INCREMENTAL, Reason.LINEAR)
            catalog.add_batch(done("gold.v", number, to=number), settle="applied")


def test_killed_writers_leave_no_gap_and_no_half(url: str) -> None:
    """Every number up to the last is applied and recorded once; at most the last is open."""
    with Catalog.open(url) as catalog:
        known = catalog.add_view(view("gold.v"))
        for milliseconds in (3, 11, 24, 37, 52, 68):
            with running(write_batches, url):
                time.sleep(milliseconds / 1000)
            last = catalog.last_number(known.view_id)
            still_open = [intent.number for intent in catalog.open_intents()]
            assert still_open in ([], [last])
            recorded = [record.number for record in reversed(catalog.history("gold.v", 100_000))]
            assert recorded == list(range(1, last + 1 - len(still_open)))
        assert last > 0
