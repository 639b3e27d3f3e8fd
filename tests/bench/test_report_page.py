"""The page: whole, escaped, and loading nothing from anywhere."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.console import Console

from bench.demo_display import result_table
from bench.report_page import CHART_WIDTH, chart_rounds, chart_views, render_page, seconds, times
from bench.results import DemoResult, join_reports
from tests.bench.page import Page, check_alone
from tests.bench.sample import entry, sample_reports, sample_result


def test_page_loads_nothing() -> None:
    check_alone(render_page(sample_result()))


def test_page_shows_every_view_and_round_escaped() -> None:
    text = render_page(sample_result())
    page = Page(text)
    for view in sample_result().views:
        assert view.name in page.text
    for shown in ("RF1 inserts", "RF2 deletes", "RF3 updates", "7 of 7", "lineitem 6\u202f017", "Example CPU"):
        assert shown in page.text
    assert "<profit>" not in text


def test_page_has_light_and_dark_colours() -> None:
    assert "prefers-color-scheme: dark" in render_page(sample_result())


def test_charts_are_well_formed_and_stay_inside() -> None:
    text = render_page(sample_result())
    drawings = [f"<svg{part.partition('</svg>')[0]}</svg>" for part in text.split("<svg")[1:]]
    assert len(drawings) == 2
    for drawing in drawings:
        root = ElementTree.fromstring(drawing)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for bar in root.iter("rect"):
            assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width
            assert float(bar.attrib["y"]) + float(bar.attrib["height"]) <= height


def test_chart_orders_views_by_gain_and_says_which_are_slower() -> None:
    chart = chart_views(sample_result())
    assert chart.rows[0].label == "q01_pricing_summary" and chart.rows[0].note == "6.4× faster"
    assert chart.rows[-1].label == "q19_discounted_revenue" and chart.rows[-1].note == "1.1× slower"
    assert chart.rows[-1].good is False
    longest = max(bar.width for row in chart.rows for bar in row.bars)
    assert longest < CHART_WIDTH - chart.left


@pytest.mark.parametrize(
    "reports",
    [
        [],
        [{"views": []}],
        [{"views": [entry("a.b", 0.0, None)]}],
        [{"views": [entry("a.b", 1.0, None, error="The table <x> is missing.", strategy="noop", reason="failed")]}],
    ],
    ids=["no rounds", "no views", "no times", "failed"],
)
def test_page_of_a_demo_that_found_little(reports: list[dict[str, object]]) -> None:
    rounds = sample_result().rounds[: len(reports)]
    result = replace(sample_result(), rounds=rounds, views=join_reports(reports))
    assert not Page(render_page(result)).open
    assert chart_rounds(result).rows or not reports


def test_table_shows_both_times_ratio_and_verdict() -> None:
    reports = sample_reports()
    reports[2]["views"][0] |= {"validated": False}
    reports[2]["views"][1] |= {"error": "The table is missing."}
    shown = _printed(replace(sample_result(), views=join_reports(reports)))
    q01, q03 = (next(line for line in shown if name in line) for name in ("q01", "q03"))
    assert q01.endswith("✗") and "1.3 s incremental" in q01 and "6.4×" in q01
    assert "failed" in q03
    assert any("cheaper" in line for line in shown)


def _printed(result: DemoResult) -> list[str]:
    console = Console(width=140)
    with console.capture() as captured:
        console.print(result_table(result))
    return [line.rstrip() for line in captured.get().splitlines()]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.042, "0.04 s"), (1.26, "1.3 s"), (38.4, "38 s"), (200.0, "3 min 20 s")],
)
def test_seconds(value: float | None, text: str) -> None:
    assert seconds(value) == text


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (5.24, "5.2×"), (31.4, "31×"), (9.96, "10×")])
def test_times(value: float | None, text: str) -> None:
    assert times(value) == text


def test_page_says_so_where_batches_were_slower() -> None:
    reports = [{"views": [entry("a.b", 2.0, 1.0)]}] * 3
    page = Page(render_page(replace(sample_result(), views=join_reports(reports))))
    assert "2.0×slower than full refreshes" in page.text and "2.0× slower" in page.text


def test_chosen_full_refresh_is_no_gain_and_no_loss() -> None:
    reports = [{"views": [entry("a.b", 2.0, 1.0, strategy="full", reason="cheaper")]}] * 3
    (row,) = chart_views(replace(sample_result(), views=join_reports(reports))).rows
    assert (row.note, row.good) == ("full chosen", None)


def test_a_difference_that_does_not_show_is_none() -> None:
    views = [
        replace(view, full_seconds=view.seconds * factor)
        for factor in (0.96, 1.04)
        for view in sample_result().views[:1]
    ]
    notes = {row.note for row in chart_views(replace(sample_result(), views=tuple(views))).rows}
    assert notes == {"as fast"}


def test_page_tells_of_the_run_without_changes() -> None:
    assert "a run without changes0.52 s" in Page(render_page(sample_result())).text.replace("\n", "")
