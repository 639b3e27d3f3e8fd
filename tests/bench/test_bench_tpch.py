"""``ivm bench tpch`` in the small: function, never time."""

from __future__ import annotations

import pytest

from bench.changes import Kind
from bench.demo_display import Display
from bench.deployment import Place
from bench.run_tpch import ALL_VIEWS, TpchOptions, run
from tests.bench.benches import check_result

Q06, Q18 = "tpch.q06_forecasting_revenue_change", "tpch.q18_large_orders"


@pytest.mark.spark
def test_all_ways_and_all_views_in_one_run(place: Place) -> None:
    options = TpchOptions(0.002, Kind.BOTH, (1.0,), ("q06", "q18"), repeats=1, warm_up=False)
    document = check_result(run(options, place, Display(quiet=True)), place)
    entries = {entry["view"]: entry for entry in document["results"]}
    assert set(entries) == {Q06, Q18, ALL_VIEWS}
    changed = entries[Q06]
    assert (changed["strategy"], changed["incremental_strategy"]) == ("incremental", "incremental")
    assert changed["rows_changed"] > 2 * 30 and changed["rows_read_full"] > 10_000
    assert changed["bytes_written"] > 0 and changed["rows_written_full"] > 0
    assert all(len(changed["samples"][way]) == 1 for way in ("full", "incremental", "auto"))
    low, high = changed["ratio_spread"]
    assert low <= changed["ratio"] <= high
    # Hardly an order is so large: nearly all that a batch writes is the auxiliary view of each order's quantity.
    assert entries[Q18]["rows_written"] > 1_000
    together = entries[ALL_VIEWS]
    assert together["full_seconds"] > 0 and together["rows_read"] is not None
    assert together["bytes_written"] > entries[Q18]["bytes_written"] / 2 > 0 and together["bytes_written_full"] > 0


@pytest.mark.spark
@pytest.mark.slow
def test_sizes_from_none_to_half(place: Place) -> None:
    options = TpchOptions(0.01, Kind.RF1, (0.0, 1.0, 50.0), ("q06", "profit"), repeats=2)
    document = check_result(run(options, place, Display(quiet=True)), place)
    entries = {(entry["view"], entry["percent"]): entry for entry in document["results"]}
    assert len(entries) == 4 * 3
    assert entries[Q06, 0.0]["strategy"] == "noop"
    assert set(document["summary"]["break_even_percent"]) == {view for view, _ in entries} - {ALL_VIEWS}


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("kind", Kind)
def test_every_view_after_every_kind_of_change(place: Place, kind: Kind) -> None:
    check_result(run(TpchOptions(0.01, kind, (30.0,), repeats=2), place, Display(quiet=True)), place)
