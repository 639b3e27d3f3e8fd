"""What the demo shows on the terminal: progress while it works, one table at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from bench.report_page import count, seconds, times
from bench.results import Batch, DemoResult, ViewResult

PIPED_WIDTH = 120  # wide enough for one line a round; a terminal has its own width
STYLES = {"noop": "dim", "incremental": "green", "affected": "cyan", "full": "yellow"}


class Display:
    """Progress bars on stderr, the table on stdout; neither where ``quiet``. Use as a context manager."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓[/]"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=28),
            TextColumn("[dim]{task.fields[now]}[/]"),
            TimeElapsedColumn(),
            console=self._console,
            disable=quiet,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    @contextmanager
    def step(self, title: str, total: int = 1) -> Iterator[Callable[[str], None]]:
        """A line with a bar of ``total`` parts; call the yielded function with a name when a part is done."""
        task = self._progress.add_task(escape(f"{title:<24}"), total=total, now="")

        def advance(name: str) -> None:
            self._progress.update(task, advance=1, now=escape(name))

        yield advance
        self._progress.update(task, completed=total, now="")

    def say(self, line: str) -> None:
        """A line above the bars."""
        self._progress.console.print(escape(line))

    def show(self, result: DemoResult, page: Path) -> None:
        """The closing table and where the page is."""
        if self._quiet:
            return
        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = PIPED_WIDTH
        console.print(result_table(result))
        console.print(
            f"\nAll views: {seconds(result.last_seconds)} in the last round "
            f"({seconds(result.shared_seconds)} of them reading changes and small tables once for all), "
            f"{seconds(result.full_seconds)} by full refresh: [bold]{times(result.ratio)}[/]. "
            f"A run without changes: {seconds(result.unchanged_seconds)}. Whole demo: {seconds(result.total_seconds)}."
        )
        console.print(f"Page: {escape(str(page))}", soft_wrap=True)


def result_table(result: DemoResult) -> Table:
    """One row a view: what each round did, both times of the last round, their ratio, and whether the view is right."""
    table = Table(
        title=f"TPC-H SF {result.scale:g}, {result.percent:g} % of the rows changed in each round",
        title_justify="left",
        header_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    table.add_column("view", overflow="fold")
    for entry in result.rounds:
        table.add_column(f"{entry.name} {entry.title}")
    for name in ("full", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("valid")
    for view in result.views:
        table.add_row(*_cells(view))
    return table


def _cells(view: ViewResult) -> list[str]:
    right = {None: "–", True: "[green]✓[/]", False: "[red]✗[/]"}[view.validated]
    ratio = times(view.ratio) if view.ratio is None or view.ratio >= 1 else f"[red]{times(view.ratio)}[/]"
    last = [seconds(view.full_seconds), ratio, right]
    return [escape(view.name), *(_batch(batch) for batch in view.batches), *last]


def _batch(batch: Batch) -> str:
    if batch.error:
        return "[red]failed[/]"
    style = STYLES.get(batch.strategy, "")
    chosen = f"[{style}]{escape(batch.strategy)}[/]" if style else escape(batch.strategy)
    return f"{seconds(batch.seconds)} {chosen}\n[dim]{escape(batch.reason)}, {count(batch.rows_changed)} rows[/]"
