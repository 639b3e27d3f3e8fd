"""What benchmarks are asked for and cannot do is an error before anything is measured."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bench.changes import Kind
from bench.subjects import read_views
from bench.tpch_subjects import changes, tpch_views
from bench.warehouse_data import FOLDER
from ivm_core.errors import SettingsError


@pytest.mark.parametrize("wanted", [("nosuch",), ("devices", "nosuch", "other")])
def test_views_that_no_name_begins_with(wanted):
    with pytest.raises(SettingsError, match=r"No view of this benchmark begins with nosuch(, other)?\.$"):
        read_views([FOLDER / "views"], wanted)


def test_views_by_the_beginning_of_their_name():
    assert [view.name for view in tpch_views(("q06",))] == ["tpch.q06_forecasting_revenue_change"]


@pytest.mark.parametrize(
    ("kind", "percent", "repeats", "in_a_row"),
    [(Kind.RF1, 10.0, 6, True), (Kind.RF1, 0.67, 1001, True), (Kind.BOTH, 134.0, 1, False)],
)
def test_more_changes_than_there_are_orders(kind, percent, repeats, in_a_row):
    tpch = SimpleNamespace(scale=0.001, streams=lambda percent: None, start_over=None)
    with pytest.raises(SettingsError, match=r"At SF 0\.001 there are orders for \d+ changes of"):
        next(changes(tpch, kind, percent, repeats, in_a_row=in_a_row))
