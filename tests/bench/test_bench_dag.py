"""``ivm bench dag`` in the small: function, never time. All views compile; a few of each layer are run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import run_dag
from bench.by_hand_sql import read_models
from bench.dag_report import Model, Round, describe
from bench.demo_display import Display
from bench.deployment import Place
from bench.run_dag import DagOptions, run
from bench.subjects import read_views
from bench.warehouse_data import FOLDER
from ivm_core.cost import decide
from ivm_core.delta.differentiate import differentiate
from ivm_core.job.compile import compile_view
from ivm_core.plan.definition import parse_table
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.table_names import tables_of
from tests.bench.benches import check_result
from tests.sampling import one_in


def test_every_view_of_the_warehouse_has_a_delta() -> None:
    views = read_views([FOLDER / "views"])
    assert len(views) >= 40
    parsed = [parse_table(file.read_text("utf-8")) for file in (FOLDER / "tables").glob("*.sql")]
    schemas = {table.name: table.schema for table in parsed}
    for view in views:
        compiled = compile_view(view.name, view.query, schemas)
        differentiate(compiled.plan, frozenset(compiled.tables))
        # Only names matter to the views above: Spark's own analysis checks types when they are created.
        schemas[view.name] = TableSchema(view.name, tuple((name, "string") for name in compiled.columns))


def test_hand_written_models_read_each_other_and_raw_tables_only() -> None:
    models = read_models(read_views([FOLDER / "views"]))
    assert len(models) == len(list((FOLDER / "by_hand").glob("*.sql"))) >= 20
    known = {file.stem for file in (FOLDER / "tables").glob("*.sql")}
    tables = {f"wh_raw.{name}" for name in known}
    for model in models:  # upstream first
        assert set(model.key) <= set(model.query.named_selects)
        assert set(model.reads) <= tables and set(tables_of(model.query)) <= tables, model.view
        tables.add(model.view)


def test_describes_rounds() -> None:
    model = Model("wh_gold.v", "incremental", 0.5, 2.0, 3)
    by_hand = Model("wh_silver.w", "incremental", 0.5, 1.0, 3, by_hand_seconds=0.5)
    rounds = [
        Round(100.0, 4.0, (model,), {}),
        Round(1.0, 1.0, (model,), {"wh_raw.t": 5}),
        Round(1.0, 0.5, (model,), {}),
    ]
    result = describe({"scale": 0.1}, {}, rounds, {}, [0.3, 0.1, 0.2])
    assert result.summary["unchanged_seconds"] == 0.2
    assert [one["ratio"] for one in result.summary["batches"]] == [0.5, 3.0]
    assert [one["by_hand_ratio"] for one in result.summary["batches"]] == [None, None]
    with_others = describe({"scale": 0.1}, {}, [Round(1.0, 0.5, (model, by_hand), {})], {}, [0.3])
    (batch,) = with_others.summary["batches"]
    # Of all models by hand, one is refreshed whole.
    assert (batch["by_hand_models"], batch["by_hand_seconds"], batch["by_hand_ratio"]) == (1, 2.5, 5.0)


def test_a_refresh_is_told_beside_what_a_batch_takes() -> None:
    refreshed = Model("wh_gold.v", "full", 2.0, 2.5, 3)
    kept = Model("wh_gold.w", "incremental", 0.5, 2.0, 3)
    batches = [
        Round(1.0, 3.0, (replace(refreshed, strategy="affected", seconds=s), kept), {}, counts=False, forced=True)
        for s in (1.0, 3.0, 1.5)
    ]
    result = describe({"scale": 0.1}, {}, [Round(1.0, 2.5, (refreshed, kept), {}), *batches], {}, [0.3])
    entries = {entry["view"]: entry for entry in result.results}
    assert entries["wh_gold.v"]["incremental_seconds"] == 1.5 and entries["wh_gold.w"]["incremental_seconds"] == 0.5
    assert entries["all views"]["warm_up_samples"] == {"group": [], "full": []}
    assert result.summary["batches"][0]["refreshed_though_slower"] == ["wh_gold.v"]


def test_a_view_that_was_refreshed_in_one_round_only_is_told_of_too() -> None:
    batch, refresh = Model("wh_gold.v", "incremental", 0.5, 2.0, 3), Model("wh_gold.v", "full", 2.0, 2.5, 3)
    forced = Round(1.0, 1.0, (replace(batch, seconds=0.7),), {}, counts=False, forced=True)
    result = describe(
        {"scale": 0.1}, {}, [*(Round(1.0, 2.0, (m,), {}) for m in (batch, refresh, batch)), forced], {}, [0.3]
    )
    view = result.results[1]
    assert (view["strategy"], view["refreshed"], view["refreshed_seconds"]) == ("incremental", 1, 2.0)
    assert view["incremental_seconds"] == 0.5 and view["ratio_spread"] == (1.25, 4.0)
    assert result.summary["batches"][0]["refreshed_though_slower"] == ["wh_gold.v"]


def test_rounds_that_warm_up_belong_to_no_median_and_must_be_right_too() -> None:
    model = Model("wh_gold.v", "incremental", 0.5, 2.0, 3)
    rounds = [Round(1.0, 4.0, (replace(model, equal=False),), {}, counts=False), Round(1.0, 1.0, (model,), {})]
    result = describe({"scale": 0.1}, {}, rounds, {}, [0.3])
    assert [one["ratio"] for one in result.summary["batches"]] == [2.0]
    whole = result.results[0]
    assert (whole["samples"], whole["warm_up_samples"]) == (
        {"group": [1.0], "full": [2.0]},
        {"group": [4.0], "full": [2.0]},
    )
    assert result.wrong == ("all views",)


@pytest.mark.spark
@pytest.mark.slow
def test_a_few_views_of_each_layer(place: Place) -> None:
    options = DagOptions(0.0005, (2.0,), repeats=1, views=("devices", "customers"), warm_up=0)
    document = check_result(run(options, place, Display(quiet=True)), place)
    assert document["summary"]["refused"] == {}
    assert [one["percent"] for one in document["summary"]["batches"]] == [100.0, 2.0]
    assert document["summary"]["batches"][1]["rows_changed"] > 0
    # Both strategies of dbt: merge, and delete+insert for the history.
    assert document["summary"]["batches"][1]["by_hand_models"] == 4
    assert document["summary"]["batches"][1]["by_hand_ratio"] > 0
    assert document["summary"]["unchanged_seconds"] > 0


@pytest.mark.spark
@pytest.mark.parametrize("by_hand", one_in(2, [True, False]))
def test_models_by_hand_may_be_left_out(place: Place, by_hand: bool) -> None:
    options = DagOptions(0.0002, (2.0,), repeats=1, views=("cancelled",), warm_up=0, by_hand=by_hand)
    (_, batch) = check_result(run(options, place, Display(quiet=True)), place)["summary"]["batches"]
    assert batch["by_hand_models"] == by_hand
    assert (batch["by_hand_seconds"] is None, batch["by_hand_ratio"] is None) == (not by_hand, not by_hand)


@pytest.mark.spark
def test_batches_of_views_that_are_refreshed_are_measured_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_dag, "FORCED", 1)
    monkeypatch.setattr(decide, "WORTH_CHOOSING_SECONDS", 0.0)
    monkeypatch.setattr(decide, "full_seconds", lambda _: 1e-6)  # so that `auto` takes it
    options = DagOptions(0.0002, (2.0,), repeats=1, views=("cancelled",), warm_up=0, by_hand=False)
    document = check_result(run(options, place, Display(quiet=True)), place)
    (_, batch) = document["summary"]["batches"]
    assert batch["strategies"].get("full")
    refreshed = [one for one in document["results"] if one["strategy"] == "full" and one["percent"] == 2.0]
    assert refreshed and all(one["incremental_seconds"] > 0 for one in refreshed)
    assert set(batch["refreshed_though_slower"]) <= {one["view"] for one in refreshed}


@pytest.mark.spark
@pytest.mark.slow
def test_the_whole_warehouse(place: Place) -> None:
    document = check_result(run(DagOptions(0.002, (1.0, 0.1), repeats=2), place, Display(quiet=True)), place)
    assert document["summary"]["refused"] == {} and document["summary"]["views"] >= 40
    assert {one["strategies"].get("full", 0) for one in document["summary"]["batches"][1:]} == {0}
