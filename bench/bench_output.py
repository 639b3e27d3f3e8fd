"""Where a benchmark's result goes: a JSON file, a page, and tables on the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.bench_page import render_bench
from bench.bench_result import BenchResult, Grid
from bench.demo_display import PIPED_WIDTH

WIDE = PIPED_WIDTH + 40


def write_result(result: BenchResult, folder: Path) -> tuple[Path, Path]:
    """Write ``<bench>.json`` and ``<bench>.html``; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    document, page = folder / f"{result.bench}.json", folder / f"{result.bench}.html"
    document.write_text(json.dumps(result.document(), indent=2, default=str) + "\n", "utf-8")
    page.write_text(render_bench(result), "utf-8")
    return document, page


def show_result(result: BenchResult, page: Path) -> None:
    """The headline's numbers and every table on stdout."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDE
    console.print(f"[bold]{escape(result.title)}[/]")
    for value, meaning in result.tiles:
        console.print(f"  [bold]{escape(value)}[/]  {escape(meaning)}")
    for section in result.sections:
        if section.grid is not None:
            console.print()
            console.print(_table(section.title, section.grid))
    console.print(f"\nPage: {escape(str(page))}", soft_wrap=True)


def _table(title: str, grid: Grid) -> Table:
    table = Table(
        title=escape(title), title_justify="left", header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in grid.columns:
        table.add_column(escape(column.name), justify="right" if column.number else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(escape(cell) for cell in row))
    return table
