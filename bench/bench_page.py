"""A benchmark's page: one HTML file that loads nothing else."""

from __future__ import annotations

from bench.bench_result import BarGroup, BenchResult
from bench.line_chart import draw_lines
from bench.report_page import BAR_HEIGHT, Chart, bar_chart, templates


def render_bench(result: BenchResult) -> str:
    """The page as text; every value is escaped by the template engine."""
    sections = [
        (section, _bars(section.bars) if section.bars else None, draw_lines(section.lines) if section.lines else None)
        for section in result.sections
    ]
    return templates().get_template("bench.html").render(result=result, sections=sections, bar_height=BAR_HEIGHT)


def _bars(groups: tuple[BarGroup, ...]) -> Chart:
    return bar_chart([(group.label, group.bars, group.ratio) for group in groups])
