"""Joining the reports of the rounds, and the numbers made of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.results import join_reports
from tests.bench.sample import entry, sample_reports, sample_result


def test_views_are_joined_over_rounds() -> None:
    views = {view.name: view for view in join_reports(sample_reports())}
    q01, q03 = views["q01_pricing_summary"], views["q03_shipping_priority"]
    assert [batch.strategy for batch in q01.batches] == ["incremental"] * 3
    assert (q01.seconds, q01.full_seconds, q01.validated, q01.rows) == (1.31, 8.42, True, 1175)
    assert q01.ratio == pytest.approx(8.42 / 1.31)
    assert q03.batches[1].strategy == "noop", "a round whose report leaves a view out had nothing to do"


def test_totals() -> None:
    result = sample_result()
    assert result.incremental_seconds[2] == pytest.approx(sum(view.seconds for view in result.views))
    assert result.full_seconds is not None
    assert result.ratio == pytest.approx(result.full_seconds / result.incremental_seconds[2])
    assert result.ok


@pytest.mark.parametrize(
    "changed", [{"validated": False}, {"validated": None}, {"error": "The table is missing."}], ids=str
)
def test_one_wrong_view_makes_the_result_wrong(changed: dict[str, object]) -> None:
    reports = sample_reports()
    reports[2]["views"][0] |= changed
    assert not replace(sample_result(), views=join_reports(reports)).ok


def test_unknown_times_give_no_ratio() -> None:
    (view,) = join_reports([{"views": [entry("a.b", 1.0, None)]}])
    assert view.ratio is None
    (failed,) = join_reports([{"views": [entry("a.b", 0.0, 2.0)]}])
    assert failed.ratio is None
    reports = sample_reports()
    reports[2]["views"][0]["full_seconds"] = None
    assert replace(sample_result(), views=join_reports(reports)).full_seconds is None
