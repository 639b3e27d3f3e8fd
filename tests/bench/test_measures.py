"""The arithmetic of benchmarks, the changes that fit in a row, and pages and charts of odd results."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from bench import measures
from bench.bench_page import render_bench
from bench.bench_result import BenchResult, Column, Grid, Line, Lines, Section
from bench.changes import Kind, changes_in_a_row
from bench.line_chart import HEIGHT, WIDTH, draw_lines
from bench.measures import break_even, growth, percentile
from bench.meter import Cost
from bench.plain_spark import refresh_statement
from bench.points import points_of
from bench.subjects import read_views
from bench.tpch_data import SQL_FOLDER
from bench.tpch_report import describe
from bench.ways import AUTO, FULL, INCREMENTAL, Trial
from tests.bench.page import check_alone


def test_examples_in_the_documentation() -> None:
    assert doctest.testmod(measures).failed == 0


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [({}, None), ({0.0: 9.0}, None), ({1.0: 0.5, 10.0: 0.1}, 1.0), ({0.0: 9.0, 1.0: 10.0, 100.0: 0.1}, 10.0)],
)
def test_break_even(ratios: dict[float, float], expected: float | None) -> None:
    found = break_even(ratios)
    assert found == (None if expected is None else pytest.approx(expected))


def test_few_values() -> None:
    assert growth([1.0, 2.0]) is None
    assert percentile([5.0], 95) == 5.0


@pytest.mark.parametrize(
    ("kind", "percent", "expected"),
    [
        (Kind.BOTH, 0.1, 3000), (Kind.BOTH, 50.0, 6), (Kind.RF1, 10.0, 5), (Kind.RF2, 50.0, 1), (Kind.RF2, 25.0, 2),
        (Kind.RF3, 50.0, 1_000_000), (Kind.RF1, 0.0, 1_000_000),
    ],
)  # fmt: skip
def test_changes_in_a_row(kind: Kind, percent: float, expected: int) -> None:
    assert changes_in_a_row(0.1, percent, kind) == expected


def test_views_wanted_bring_those_that_they_read() -> None:
    names = [view.name for view in read_views([SQL_FOLDER / "views"], ("profit",))]
    assert names == ["tpch.q09_product_type_profit", "tpch.profit_by_year"]


def test_a_model_reads_the_tables_of_other_models() -> None:
    view = read_views([SQL_FOLDER / "views"], ("profit",))[-1]
    statement = refresh_statement(view.name, view.query, "/x", {"tpch.q09_product_type_profit": "bench_full.q09"})
    assert statement.startswith("CREATE OR REPLACE TABLE bench_full.tpch__profit_by_year USING DELTA LOCATION '/x' AS")
    assert "FROM bench_full.q09 AS q09_product_type_profit" in statement


def trial(view: str, percent: float, full: float, auto: float, *, equal: bool = True) -> Trial:
    costs = {FULL: Cost(full, 100), INCREMENTAL: Cost(auto, 10), AUTO: Cost(auto, 10)}
    return Trial(view, 1.0, "RF1", percent, costs, "incremental", "incremental", 7, 3, equal)


def test_tpch_result_names_the_worst_view_and_wrong_ones() -> None:
    trials = [trial("t.a", p, 8.0, 1.0 * p) for p in (1.0, 10.0)] + [trial("t.b", 1.0, 2.0, 4.0, equal=False)]
    result = describe({"scale": 1.0, "kind": "RF1"}, {}, points_of(trials), {"t.c": "no rule"}, "all views")
    first = result.summary["by_percent"][0]
    assert (first["worst_view"], first["worst_ratio"], first["slower_than_full"]) == ("t.b", 0.5, ["t.b"])
    assert first["geometric_mean"] == pytest.approx(2.0)
    assert result.summary["break_even_percent"]["t.a"] == pytest.approx(10**0.9031, rel=1e-3)
    assert result.wrong == ("t.b",) and result.document()["ok"] is False
    assert "t.c" in " ".join(result.notes)


def test_page_is_whole_and_escaped() -> None:
    grid = Grid((Column("view"), Column("n", True)), (("<b>", "1"),))
    lines = Lines((Line("a & b", "other", ((0.1, 1.0), (10.0, 3.0))),), "percent", "times", True, 1.0)
    section = Section("<title>", "note", lines=lines, grid=grid)
    facts = {"machine": "Example CPU", "started_at": "2026"}
    result = BenchResult("tpch", "A & B", {"sf": 1}, facts, (), {}, (("1×", "x"),), (section,), ("n",))
    page = check_alone(render_bench(result))
    assert "<b>" in page.text and "a & b" in page.text and "Example CPU" in page.text


@pytest.mark.parametrize("powers", [False, True])
@pytest.mark.parametrize("points", [(), ((1.0, 0.0),), ((0.01, 5.0), (50.0, 0.2)), tuple((n, n) for n in range(1, 99))])
def test_lines_stay_inside(points: tuple[tuple[float, float], ...], powers: bool) -> None:
    chart = draw_lines(Lines((Line("l", "delta", points),), "x", "y", True, level=1.0, logarithmic_up=powers))
    for line in chart.lines:
        for pair in line.points.split():
            x, y = (float(value) for value in pair.split(","))
            assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT
    assert all(0 <= x <= WIDTH for x, _ in chart.x_ticks) and all(0 <= y <= HEIGHT for y, _ in chart.y_ticks)


def test_five_times_as_fast_is_as_far_from_the_mark_as_five_times_as_slow() -> None:
    chart = draw_lines(Lines((Line("l", "delta", ((1.0, 5.0), (2.0, 0.2))),), "x", "y", level=1.0, logarithmic_up=True))
    (_, above), (_, below) = chart.lines[0].dots
    assert chart.level is not None and chart.level - above == pytest.approx(below - chart.level, abs=0.2)
    assert [text for _, text in chart.y_ticks] == ["0.2", "0.5", "1", "2", "5"]


def test_where_a_refresh_wins_from_the_start_is_below_what_was_measured() -> None:
    def trial(view: str, percent: float, seconds: float) -> Trial:
        costs = {FULL: Cost(1.0), INCREMENTAL: Cost(seconds), AUTO: Cost(seconds)}
        return Trial(view, 1.0, "RF1", percent, costs, "incremental")

    seconds = {"t.a": (2.0, 4.0), "t.b": (0.1, 0.2), "t.c": (0.5, 2.0)}
    points = points_of(
        trial(view, p, s) for view, both in seconds.items() for p, s in zip((0.1, 10.0), both, strict=True)
    )
    curves = describe({"scale": 1.0, "kind": "RF1"}, {}, points, {}, "all").sections[-1]
    assert dict(curves.grid.rows) == {"t.a": "below 0.1 %", "t.b": "not reached", "t.c": "1 %"}


def test_templates_are_there() -> None:
    folder = Path(measures.__file__).parent / "templates"
    assert {"bench.html", "charts.html", "demo.html", "lines.html", "style.css"} <= {f.name for f in folder.iterdir()}
