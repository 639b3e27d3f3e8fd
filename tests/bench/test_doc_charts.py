"""The charts of docs/performance.md are those of its tables."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.doc_charts import IMAGES, PAGE, charts


def test_the_charts_are_those_of_the_page():
    page = PAGE.read_text("utf-8")
    for name, drawn in charts(page).items():
        assert (IMAGES / name).read_text("utf-8") == drawn, f"{name} shows other figures: run `make charts`"
        assert f"images/{name}" in page


def test_a_chart_has_a_bar_for_each_way_of_each_view():
    page = PAGE.read_text("utf-8")
    svg = ElementTree.fromstring(charts(page)["bench-tpch.svg"])
    bars = [rect.get("class") for rect in svg.iter("{http://www.w3.org/2000/svg}rect") if rect.get("x") == "236"]
    views = {line.split("|")[1].strip() for line in page.splitlines() if line.startswith(("| q", "| profit"))}
    assert sorted(bars) == ["delta"] * len(views) + ["full"] * len(views)


def test_a_table_that_is_gone_is_told_of():
    with pytest.raises(ValueError, match="no table with the columns view, full refresh, auto, auto picked"):
        charts("# Performance\n")
