"""What a run tells of its views, and what starts one without Airflow's own help."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from types import SimpleNamespace

import deltalake
import pyarrow as pa
import pytest
from ivm_airflow.assets import announce, outlets, table_asset, triggers
from ivm_airflow.manifest import Group, GroupView
from ivm_airflow.packing import with_earlier_tries
from ivm_airflow.watch import DeltaLogTrigger, newest_version

from ivm_core.catalog.model import BatchRecord
from ivm_core.cost.model import Reason, Strategy

from .conftest import ROOT  # noqa: F401  (makes the plugin importable)

pytestmark = pytest.mark.airflow


def report(view, strategy, error=None):
    known = {"batch": 3, "reason": "linear", "rows_changed": 5, "seconds": 0.1}
    return {
        "view": view,
        "strategy": strategy,
        "error": error,
        **known,
        "from_versions": {"a.b": 1},
        "to_versions": {"a.b": 2},
    }


def test_a_run_tells_of_the_views_that_it_changed_only():
    group = Group("g", None, tuple(GroupView(f"gold.{name}") for name in ("failed", "moved", "same")))
    told = defaultdict(SimpleNamespace)
    task = SimpleNamespace(outlets=outlets(group))
    reports = [
        report("gold.moved", "incremental"),
        report("gold.same", "noop"),
        report("gold.failed", "noop", "broken"),
    ]
    assert announce(reports, {"ti": SimpleNamespace(task=task), "outlet_events": told}) == ["gold.moved"]
    assert [asset.name for asset in task.outlets] == ["gold.moved"]
    extra = told[table_asset("gold.moved")].extra
    assert (extra["rows_changed"], extra["to_versions"], extra["strategy"]) == (5, {"a.b": 2}, "incremental")


def test_a_second_try_tells_what_the_first_one_did():
    batch = BatchRecord("gold.a", 4, Strategy.FULL, Reason.CHEAPER, None, None, to_versions={"a.b": 2}, run_id="r")
    engine = SimpleNamespace(history=lambda view, limit: [batch] if view == "gold.a" else [])
    found = with_earlier_tries(engine, [report("gold.a", "noop"), report("gold.b", "noop")], "r")
    assert [(entry["view"], entry["strategy"], entry["batch"]) for entry in found] == [
        ("gold.a", "full", 4),
        ("gold.b", "noop", 3),
    ]
    assert with_earlier_tries(engine, [report("gold.a", "noop")], "another")[0]["strategy"] == "noop"


@pytest.mark.parametrize(
    ("name", "uri"),
    [("shop.orders", "x-ivm://shop/orders"), ("ORDERS", "x-ivm://default/orders"), ("s.a b/c", "x-ivm://s/a%20b%2Fc")],
)
def test_an_asset_is_known_by_the_table_s_name(name, uri):
    assert table_asset(name).uri == uri


def test_groups_that_watch_one_table_do_not_share_its_watcher():
    groups = [
        Group(
            name,
            None,
            (GroupView(f"gold.{name}", tables=("shop.orders",), on_update=True),),
            True,
            None,
            every,
            watched,
        )
        for name, every, watched in (
            ("a", 5.0, (("shop.orders", "/t"),)),
            ("b", 9.0, (("shop.orders", "/t"),)),
            ("c", None, ()),
        )
    ]
    found = {
        asset.uri: [watcher.trigger.every_seconds for watcher in asset.watchers]
        for g in groups
        for asset in triggers(g)
    }
    assert found == {
        "x-ivm://shop/orders": [],
        "x-ivm-log://a/shop/orders": [5.0],
        "x-ivm-log://b/shop/orders": [9.0],
    }


class Memory:
    """As much of an asset's state store as the watcher needs."""

    def __init__(self, value=None):
        self.value = value

    async def aget(self, key):
        return self.value

    async def aset(self, key, value):
        self.value = value


async def events(location, memory, commits):
    trigger = DeltaLogTrigger(str(location), every_seconds=0.01)
    trigger.asset_state_store = memory
    running, seen = trigger.run(), []
    for commit in commits:
        commit()
        event = await asyncio.wait_for(anext(running), 5)
        seen.append(event.payload["version"])
    await asyncio.sleep(0)
    await running.aclose()
    return seen


def test_a_watcher_tells_of_each_new_version(tmp_path):
    table = tmp_path / "a table"
    assert newest_version(str(table)) is None

    def commit():
        deltalake.write_deltalake(str(table), pa.table({"a": [1]}), mode="append")

    def two():
        commit()
        commit()

    assert asyncio.run(events(table, None, [commit, commit, two])) == [0, 1, 3]
    assert newest_version(f"file://{table}") == 3


def test_a_watcher_that_starts_again_tells_what_came_meanwhile(tmp_path):
    def commit():
        deltalake.write_deltalake(str(tmp_path), pa.table({"a": [1]}), mode="append")

    commit()
    assert asyncio.run(events(tmp_path, Memory(0), [commit])) == [1]


def test_a_watcher_is_made_again_from_its_parameters():
    path, parameters = DeltaLogTrigger("/lake/t", 5.0, "hourly").serialize()
    assert path == "ivm_airflow.watch.DeltaLogTrigger"
    assert DeltaLogTrigger(**parameters).serialize() == (path, parameters)
