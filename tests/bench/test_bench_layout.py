"""``ivm bench layout`` in the small: function, never time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench import run_layout
from bench.demo_display import Display
from bench.deployment import Place
from bench.run_layout import LayoutOptions, run
from ivm_core.errors import SettingsError
from ivm_core.maintain import layout
from tests.bench.benches import check_result


@pytest.mark.spark
def test_tables_are_laid_out_as_doctor_advises(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "LARGE", 1000)
    options = LayoutOptions(0.002, percent=2.0, views=("q04",), repeats=1, warm_up=0)
    document = check_result(run(options, place, Display(quiet=True)), place)
    advice = {each["table"]: each["statements"] for each in document["summary"]["advice"]}
    assert advice["tpch.lineitem"][1:] == [
        "ALTER TABLE tpch.lineitem CLUSTER BY (l_orderkey)",
        "OPTIMIZE tpch.lineitem FULL",
    ]
    (entry,) = document["results"]
    assert entry["view"] == "tpch.q04_order_priority" and entry["seconds_scattered"] > 0 and entry["full_ratio"] > 0


def test_tables_that_need_no_layout_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_layout, "layouts", lambda session: [layout.Layout("tpch.orders", "in order")])
    tables: Any = SimpleNamespace(scale=0.1, place=SimpleNamespace(spark=None, engine=SimpleNamespace(_session=None)))
    with pytest.raises(SettingsError, match="nothing to advise"):
        run_layout._follow(tables, Display(quiet=True))
