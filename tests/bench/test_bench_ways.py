"""``ivm bench ways`` in the small: function, never time."""

from __future__ import annotations

import pytest

from bench.demo_display import Display
from bench.deployment import Place
from bench.run_ways import ALL_VIEWS, WaysOptions, run
from bench.switches import SWITCHES
from ivm_core.errors import SettingsError
from tests.bench.benches import check_result


@pytest.mark.spark
@pytest.mark.parametrize("ways", [("keys", "few_rows_here", "one_run"), pytest.param((), marks=pytest.mark.slow)])
def test_views_are_right_without_a_way(place: Place, ways: tuple[str, ...]) -> None:
    options = WaysOptions(0.002, percent=2.0, ways=ways, views=("q12",), repeats=1)
    document = check_result(run(options, place, Display(quiet=True)), place)
    assert {(entry["way"], entry["view"]) for entry in document["results"]} == {
        (switch.name, ALL_VIEWS if switch.together else "tpch.q12_shipping_modes")
        for switch in SWITCHES
        if not ways or switch.name in ways
    }
    assert all(entry["seconds_without"] > 0 for entry in document["results"])


def test_a_way_that_there_is_not_is_refused() -> None:
    with pytest.raises(SettingsError, match="no way magic"):
        run(WaysOptions(ways=("magic",)), Place(), Display(quiet=True))
