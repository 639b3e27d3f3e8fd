"""Views of one run side by side: in dependency order, each batch with its own tag, a failure kept to its dependants."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from ivm_core.engine.sharing import WorkClock
from ivm_core.maintain.slots import run_in_order, views_at_once
from ivm_core.settings import Settings
from tests.maintain.database import set_limits
from tests.maintain.test_identities import FIRST, QUERIES, SECOND, Deployment
from tests.maintain.test_views_over_views import DOWNSTREAM, THIRD, UPSTREAM


@dataclass(frozen=True)
class View:
    name: str
    tables: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


DIAMOND = (View("a"), View("b"), View("left", ("a", "t")), View("right", ("a", "b")), View("top", ("left", "right")))


class Recorder:
    """Notes when each view's work begins and ends, and how many were at work at once."""

    def __init__(self) -> None:
        self.lock, self.at_work, self.most, self.events = threading.Lock(), 0, 0, []

    def __call__(self, view: View) -> None:
        with self.lock:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            self.events.append(("begin", view.name))
        time.sleep(0.02)
        with self.lock:
            self.at_work -= 1
            self.events.append(("end", view.name))


@pytest.mark.parametrize("at_once", [1, 2, 3, 8])
def test_a_view_begins_when_those_that_it_reads_have_ended(at_once):
    recorder = Recorder()
    run_in_order(DIAMOND, at_once, recorder)
    assert recorder.most == min(at_once, 2)
    assert sorted(name for what, name in recorder.events if what == "end") == sorted(view.name for view in DIAMOND)
    for view in DIAMOND:
        for upstream in view.tables:
            if upstream != "t":
                assert recorder.events.index(("end", upstream)) < recorder.events.index(("begin", view.name))


def test_the_view_with_the_longest_way_above_it_begins_first():
    recorder = Recorder()
    chain = tuple(View(f"z{step}", (f"z{step - 1}",)) for step in range(1, 4))
    run_in_order((View("a"), View("b"), View("c"), View("z0"), *chain), 2, recorder)
    begun = [name for what, name in recorder.events if what == "begin"]
    assert begun[:2] == ["z0", "a"]
    assert begun.index("z1") < begun.index("c")
    assert set(begun) == {"a", "b", "c", "z0", "z1", "z2", "z3"}


def test_the_way_that_takes_longest_begins_first():
    recorder = Recorder()
    chain = (View("z0"), View("z1", ("z0",)))
    run_in_order((View("a"), View("b"), *chain), 2, recorder, lambda: {"a": 9.0, "b": 0.1, "z0": 1.0, "z1": 2.0})
    begun = [name for what, name in recorder.events if what == "begin"]
    assert begun[:2] == ["a", "z0"]


@pytest.mark.parametrize("at_once", [1, 3])
def test_an_exception_of_the_work_ends_the_run(at_once):
    begun = []

    def work(view: View) -> None:
        begun.append(view.name)
        if view.name == "b":
            raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        run_in_order(DIAMOND, at_once, work)
    assert "top" not in begun


@pytest.mark.parametrize(
    ("master", "wanted", "slots"),
    [("local[2]", 0, 2), ("local[16,4]", 0, 4), ("local", 0, 1), ("spark://h:7077", 0, 4), ("local[2]", 3, 3)],
)
def test_slots_follow_the_cores_unless_set(master, wanted, slots):
    assert views_at_once(Settings(spark={"master": master}, limits={"views_at_once": wanted})) == slots


def test_of_threads_at_work_each_is_charged_its_share(monkeypatch):
    clock, moment, turn = WorkClock(), [100.0], threading.Barrier(2)
    monkeypatch.setattr("ivm_core.engine.sharing.time.monotonic", lambda: moment[0])
    charged = {}

    def short():
        with clock.at_work():
            turn.wait()  # both are at work
            turn.wait()  # four seconds have passed
            charged["short"] = clock.now()
        turn.wait()  # one is left
        turn.wait()

    other = threading.Thread(target=short)
    with clock.at_work():
        moment[0] += 3
        other.start()
        turn.wait()
        moment[0] += 4
        turn.wait()
        turn.wait()
        moment[0] += 5
        charged["long"] = clock.now()
        turn.wait()
        other.join()
    assert charged == {"short": 2.0, "long": 3 + 2 + 5}
    assert clock.now() == moment[0]  # of a thread that does not share, the clock's own


@pytest.mark.spark
@pytest.mark.parametrize(
    "replace_rows", [0, pytest.param(100_000, marks=pytest.mark.slow)], ids=["merged", "rewritten"]
)
def test_siblings_in_parallel_end_where_their_queries_do(spark, tmp_path, replace_rows):
    schema = f"slots_{replace_rows}"
    deployment = Deployment(spark, tmp_path, schema, UPSTREAM | DOWNSTREAM)
    engine = deployment.engine
    set_limits(engine, views_at_once=4, replace_rows=replace_rows)
    for changes in (FIRST + SECOND, THIRD):
        deployment.run(*changes)
        before = deployment.versions()
        reports = engine.maintain()
        deployment.check()
        # Each commit carries its own view's batch: one number further, and no other's tag.
        after = deployment.versions()
        assert {r.view for r in reports if r.strategy != "noop"} == {
            name for name in after if after[name] > before[name]
        }
        assert all(after[name] - before[name] <= 1 for name in after)
        assert not any(report.error for report in reports)
    assert not deployment.changed()


@pytest.mark.spark
def test_of_parallel_views_a_failing_one_fails_its_dependants_only(spark, tmp_path):
    queries = {
        "shares": "SELECT id, g, 100 DIV v AS share FROM {s}.f",
        "of_shares": "SELECT g, sum(share) AS total FROM {s}.shares GROUP BY g",
        **QUERIES,
    }
    deployment = Deployment(spark, tmp_path, "slots_fail", queries)
    set_limits(deployment.engine, views_at_once=3)
    deployment.run("INSERT INTO {s}.f VALUES (20, 1, 'z', 0)")
    reports = deployment.engine.maintain(raise_errors=False)
    codes = {report.view.removeprefix("slots_fail."): report.error_code for report in reports if report.error}
    assert codes == {"shares": "ERROR", "of_shares": "UPSTREAM_FAILED"}
    assert {report.strategy for report in reports if not report.error} <= {"incremental", "affected", "noop"}
    deployment.run("DELETE FROM {s}.f WHERE id = 20")
    deployment.engine.maintain()
    deployment.check()
