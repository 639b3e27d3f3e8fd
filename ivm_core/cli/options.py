"""Options and arguments that several commands share, and how an engine is opened from them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ivm_core.maintain import Engine
    from ivm_core.plan.definition import Policy
    from ivm_core.settings import Settings

SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="PATH",
        help="Settings file, or the folder it is in. Default: ./ivm.toml.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]
ViewName = Annotated[str, typer.Argument(metavar="VIEW", help="A view's name: schema.view.", show_default=False)]
ViewNames = Annotated[list[str] | None, typer.Argument(metavar="VIEW", help="Views; default: all.", show_default=False)]
GroupName = Annotated[
    str | None, typer.Option("--group", metavar="NAME", help="Only the views of this group.", show_default=False)
]


def parse_instant(value: str) -> datetime:
    """An ISO 8601 time of the past, as 2026-05-31T06:00+02:00, in UTC; UTC where it names no zone."""
    from ivm_core.batch.clock import is_ahead

    try:
        instant = datetime.fromisoformat(value)
        instant = instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter("use ISO 8601, as in 2026-05-31T06:00:00Z") from None
    if is_ahead(instant, datetime.now(UTC)):
        raise typer.BadParameter("the time is in the future: use one of the past, or none for now")
    return instant


AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=parse_instant,
        metavar="TIME",
        help="Up to what was committed by then (ISO 8601; UTC if it names no zone). Default: now.",
        show_default=False,
    ),
]


def one_of(value: str, names: Iterable[str]) -> str:
    """The name as it is spelled here, whatever its case. Raises BadParameter with all names."""
    known = [str(name) for name in names]
    if value.lower() not in known:
        raise typer.BadParameter(f"use one of {', '.join(known)}")
    return value.lower()


def parse_policy(value: str) -> Policy:
    """A refresh policy by its name."""
    # Imported here: it brings SQL parsing along, which `ivm --help` does not need.
    from ivm_core.plan.definition import Policy

    return Policy(one_of(value, Policy))


PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        parser=parse_policy,
        metavar="POLICY",
        help="Instead of the views' own: auto, incremental, incremental_strict or full.",
        show_default=False,
    ),
]


def parse_mode(value: str) -> str:
    """A run's mode by its name."""
    from ivm_core.maintain.model import Mode

    return one_of(value, Mode)


ModeName = Annotated[
    str | None,
    typer.Option(
        "--mode",
        parser=parse_mode,
        metavar="MODE",
        help="catch_up (default); rewind: back to where the views stood at --as-of, and on from there to now; full.",
        show_default=False,
    ),
]


@contextmanager
def engine_of(path: Path | None) -> Iterator[Engine]:
    """An open engine with the settings of that file; Spark starts when the engine first needs it."""
    from ivm_core.cli.quiet import open_quietly
    from ivm_core.maintain import Engine
    from ivm_core.settings import Settings

    settings = Settings.load(path)
    _log_to_stderr(settings)
    with Engine.open(spark=lambda: open_quietly(settings), settings=settings) as engine:
        yield engine


def _log_to_stderr(settings: Settings) -> None:
    """What the package logs goes to the terminal from ``log_level`` on; Python shows warnings where none is set."""
    if settings.log_level is not None:
        logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
        logging.getLogger("ivm_core").setLevel(settings.log_level)


@contextmanager
def progress(as_json: bool) -> Iterator[Callable[[str, str], None]]:
    """Shows which view is at which stage while the body runs; silent where nobody watches.

    Yields the callback ``(view, stage)``.
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from ivm_core.cli.output import console

    terminal = console(stderr=True)
    if as_json or not terminal.is_terminal:
        yield lambda view, stage: None
        return
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=terminal, transient=True
    ) as bars:
        task = bars.add_task("starting")

        def show(view: str, stage: str) -> None:
            bars.update(task, description=f"{view}  {stage}" if view else stage)

        yield show
