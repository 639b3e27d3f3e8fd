"""``ivm bench floor`` in the small: function, never time."""

from __future__ import annotations

import pytest

from bench.demo_display import Display
from bench.deployment import Place
from bench.run_floor import FloorOptions, run
from tests.bench.benches import check_result


@pytest.mark.spark
def test_batches_and_statements_by_hand_agree(place: Place) -> None:
    document = check_result(run(FloorOptions(0.002, 2.0, repeats=1), place, Display(quiet=True)), place)
    assert {entry["view"] for entry in document["results"]} == {
        "bench_floor.lines",
        "bench_floor.orders_revenue",
        "bench_floor.supplier_revenue",
    }
    for entry in document["results"]:
        assert entry["floor_seconds"] > 0 and entry["incremental_seconds"] > 0
        assert entry["rows_changed"] >= 60 and entry["bytes_written_floor"] > 0
