"""Commands on a whole project: init, plan, apply, demo."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ivm_core.cli.jobs import write_jobs
from ivm_core.cli.options import AsJson, SettingsFile, engine_of, progress
from ivm_core.cli.output import GOOD, console, print_json, print_table, text
from ivm_core.cli.scaffold import write_project
from ivm_core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from ivm_core.maintain import PlannedChange

PROJECT = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        help="Folder with tables/ and views/. Default: the one under sql/.",
        show_default=False,
    ),
]


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where; made if needed.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Make a small project that works at once: settings, two tables, three views."""
    written = write_project(folder)
    if as_json:
        print_json({"folder": str(folder.resolve()), "files": written})
        return
    for name in written:
        console().print(f"{GOOD} {text(name)}")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    console().print(f"\nNext: [bold]{text(enter)}ivm apply[/], then as README.md in it says.")


def plan(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Also write each view's generated job and SQL there.", show_default=False
        ),
    ] = None,
    project: PROJECT = None,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what `ivm apply` would change; changes nothing."""
    with engine_of(settings) as engine:
        changes = engine.plan(project)
        if out is not None:
            written, left_out = write_jobs(engine, project or engine.settings.project_dir(), out)
    _print_changes(changes, as_json, "Nothing to change.")
    if out is not None and not as_json:
        console().print(f"{GOOD} {len(written)} jobs written to {text(out)}")
        if left_out:
            console().print(
                f"Left out until `ivm apply` has made the tables and views that they read: {text(', '.join(left_out))}"
            )


def apply(project: PROJECT = None, settings: SettingsFile = None, as_json: AsJson = False) -> None:
    """Make tables and views as the files under sql/ say, and write the manifest for Airflow."""
    with engine_of(settings) as engine, progress(as_json) as on_progress:
        changes = engine.apply(project, on_progress=on_progress)
    _print_changes(changes, as_json, "Everything is already as the files say.")


def demo(
    sf: Annotated[float, typer.Option("--sf", min=0.001, help="TPC-H scale factor; 1 is about 1 GB.")] = 1.0,
    as_json: AsJson = False,
) -> None:
    """TPC-H views through three rounds of changes, each one Airflow DAG run, with times and validation."""
    try:
        from bench.demo import run
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "bench":
            raise EnvironmentProblem(
                "The demo is part of the repository: clone it and run `make demo` there."
            ) from None
        raise EnvironmentProblem(
            f"The demo needs the package {error.name}: run `make setup`, which installs it."
        ) from None
    result = run(sf=sf, quiet=as_json)
    if as_json:
        print_json(result)


def _print_changes(changes: list[PlannedChange], as_json: bool, nothing: str) -> None:
    if as_json:
        print_json(changes)
    elif changes := [change for change in changes if change.action != "unchanged"]:
        print_table(
            ("action", "kind", "name", "detail"),
            ((text(item.action), text(item.kind), text(item.name), text(item.detail)) for item in changes),
        )
    else:
        console().print(nothing)
