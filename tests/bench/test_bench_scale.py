"""``ivm bench scale`` in the small: function, never time."""

from __future__ import annotations

import pytest

from bench.demo_display import Display
from bench.deployment import Place
from bench.meter import Cost
from bench.points import points_of
from bench.run_scale import ScaleOptions, run
from bench.scale_report import describe
from bench.ways import WAYS, Trial
from ivm_core.errors import SettingsError
from tests.bench.benches import check_result


@pytest.mark.spark
def test_the_same_orders_at_two_scale_factors(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.run_scale.WARM_UP", 1)
    options = ScaleOptions((0.002, 0.004), 30, views=("q06",), repeats=1)
    document = check_result(run(options, place, Display(quiet=True)), place)
    assert [entry["scale"] for entry in document["results"]] == [0.002, 0.004]
    assert [round(entry["percent"], 6) for entry in document["results"]] == [1.0, 0.5]
    assert document["summary"]["growth"]["incremental"] > 0


def test_growth_is_between_the_ends() -> None:
    def trial(scale: float, seconds: float) -> Trial:
        return Trial("tpch.v", scale, "RF1", 1 / scale, {way: Cost(seconds) for way in WAYS}, "incremental")

    result = describe({"orders": 10}, {}, points_of([trial(0.1, 2.0), trial(1.0, 3.0), trial(1.0, 4.0)]), {})
    assert result.summary["growth"] == {"incremental": 1.75, "auto": 1.75, "full": 1.75}


def test_growth_is_told_of_each_step_too() -> None:
    def trial(scale: float, seconds: float) -> Trial:
        return Trial("tpch.v", scale, "RF1", 1 / scale, {way: Cost(seconds) for way in WAYS}, "incremental")

    result = describe({"orders": 10}, {}, points_of([trial(0.1, 4.0), trial(1.0, 2.0), trial(10.0, 3.0)]), {})
    steps = result.summary["growth_by_step"]
    assert {step: grown["incremental"] for step, grown in steps.items()} == {"0.1 to 1": 0.5, "1 to 10": 1.5}


def test_more_orders_than_there_are_is_refused() -> None:
    with pytest.raises(SettingsError, match="more than half"):
        run(ScaleOptions((0.001, 1.0), 1500), Place(), Display(quiet=True))
