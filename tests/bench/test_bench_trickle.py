"""``ivm bench trickle`` in the small: function, never time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest

from bench import run_trickle
from bench.demo_display import Display
from bench.deployment import Place
from bench.run_trickle import TrickleOptions, run
from tests.bench.benches import check_result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_batches_with_upkeep(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    compacted: list[list[str]] = []
    compact_them = run_trickle.compact

    def compact(spark: SparkSession, tables: Iterable[str]) -> None:
        compact_them(spark, names := sorted(tables))
        compacted.append(names)

    monkeypatch.setattr("bench.run_trickle.COMPACTED_EVERY", 3)
    monkeypatch.setattr("bench.run_trickle.compact", compact)
    options = TrickleOptions(0.001, batches=4, orders=3, views=("q13",), upkeep=(True,))  # which keeps a part
    document = check_result(run(options, place, Display(quiet=True)), place)
    entries = {entry["view"]: entry for entry in document["results"]}
    floor = {f"bench_floor.{v}" for v in ("lines", "orders_revenue", "supplier_revenue")}
    assert set(entries) == {*floor, "tpch.q13_customer_distribution", "all views"}
    assert all(len(entry["samples"]) == 4 for entry in entries.values())
    assert set(document["summary"]["with upkeep"]) >= {"p50", "p95", "p99", "growth", "growth_of_second_half"}
    # Of seven changes, three of them to warm up, the fourth and the seventh come after compactions.
    assert compacted == [["tpch.lineitem", "tpch.orders"]] * 2


@pytest.mark.spark
@pytest.mark.slow
def test_upkeep_leaves_fewer_files(place: Place) -> None:
    options = TrickleOptions(0.001, batches=45, orders=3)
    document = check_result(run(options, place, Display(quiet=True)), place)
    files = {entry["upkeep"]: entry["files"] for entry in document["results"] if entry["view"] == "bench_floor.lines"}
    assert files[False] > 40 and files[True] <= 24
