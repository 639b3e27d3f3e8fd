"""``make charts``: the charts of docs/performance.md, drawn from its own tables, so that neither tells of other figures."""

from __future__ import annotations

from collections.abc import Iterator

from bench.bench_result import Line, Lines
from bench.deployment import ROOT
from bench.line_chart import draw_lines
from bench.report_page import BAR_HEIGHT, bar_chart, templates

PAGE = ROOT / "docs" / "performance.md"
IMAGES = ROOT / "docs" / "images"

Rows = list[dict[str, str]]


def charts(page: str) -> dict[str, str]:
    """SVG by file name, from the page's Markdown. Raises ValueError where a table that is drawn is not in it."""
    return {
        "bench-tpch.svg": _tpch(_table(page, "view", "full refresh", "auto", "auto picked")),
        "bench-dag.svg": _runs(_table(page, "run", "1")),
    }


def _tpch(rows: Rows) -> str:
    views = [row for row in rows if not row["view"].startswith("**")]
    views.sort(key=lambda row: -_number(row["ratio of auto"]))
    bars = bar_chart(
        [
            (
                row["view"],
                (("delta", _number(row["auto"])), ("full", _number(row["full refresh"]))),
                _number(row["ratio of auto"]),
            )
            for row in views
        ]
    )
    title = "Seconds of a batch and of a full refresh, TPC-H at SF 10, 0.1 % changed"
    return templates().get_template("bars.svg").render(chart=bars, title=title, bar_height=BAR_HEIGHT)


def _runs(rows: Rows) -> str:
    """The group's runs and plain Spark's beside them, of one session."""
    lines = tuple(Line(row["run"], kind, _points(row)) for row, kind in zip(rows, ("delta", "full"), strict=True))
    chart = draw_lines(Lines(lines, "run after building", "seconds"))
    title = "Seconds of a run of 48 views, and of all models by plain Spark, after each change of 1 %"
    return templates().get_template("lines.svg").render(chart=chart, title=title)


def _points(row: dict[str, str]) -> tuple[tuple[float, float], ...]:
    """Seconds by run."""
    return tuple((float(run), _number(cell)) for run, cell in row.items() if run != "run")


def _table(page: str, *columns: str) -> Rows:
    """The page's first table that has these columns: of each row the texts by column."""
    for header, rows in _tables(page):
        if set(columns) <= set(header):
            return [dict(zip(header, row, strict=True)) for row in rows]
    raise ValueError(f"{PAGE.name} has no table with the columns {', '.join(columns)}: name them again or draw others.")


def _tables(page: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    block: list[list[str]] = []
    for line in [*page.splitlines(), ""]:
        if line.startswith("|"):
            block.append([cell.strip() for cell in line.strip("|").split("|")])
        elif block:
            yield block[0], block[2:]  # between them is the line of dashes
            block = []


def _number(text: str) -> float:
    """12.5 of ``12.5 s`` or of ``12.5×``."""
    return float(text.removesuffix(" s").removesuffix("×"))


def main() -> None:
    """Draw each chart into its file."""
    for name, drawn in charts(PAGE.read_text("utf-8")).items():
        (IMAGES / name).write_text(drawn, "utf-8")


if __name__ == "__main__":
    main()
