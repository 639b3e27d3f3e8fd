"""Commands that change views or check them: maintain, refresh, validate, drop."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ivm_core.cli.options import (
    AsJson,
    AsOf,
    GroupName,
    ModeName,
    PolicyName,
    SettingsFile,
    ViewName,
    ViewNames,
    engine_of,
    progress,
)
from ivm_core.cli.output import BAD, GOOD, NO_VIEWS, console, print_json, print_table, seconds, strategy, text, verdict
from ivm_core.errors import UPSTREAM_FAILED, DriftError, IvmError
from ivm_core.settings import in_one_paragraph

if TYPE_CHECKING:
    from ivm_core.apply.model import MaintenanceReport
    from ivm_core.validate.model import ValidationReport

SEVERAL_FAILED = 11
Report = TypeVar("Report")


def maintain(
    views: ViewNames = None,
    group: GroupName = None,
    as_of: AsOf = None,
    policy: PolicyName = None,
    mode: ModeName = None,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Bring views to the newest state of their tables, all to the same cut."""
    if mode == "rewind" and as_of is None:
        raise typer.BadParameter("--mode rewind needs --as-of: the time to go back to")
    if mode == "full" and policy not in (None, "full"):
        raise typer.BadParameter(
            f"--mode full computes the views anew, and --policy {policy} may not: give one of them"
        )
    if views and group is not None:
        raise typer.BadParameter("name views, or a group by --group, and not both")
    with engine_of(settings) as engine, progress(as_json) as on_progress:
        reports = engine.maintain(
            views or None,
            as_of=as_of,
            policy=policy,
            group=group,
            on_progress=on_progress,
            raise_errors=False,
            mode=mode or "catch_up",
        )
    _print_reports(reports, as_json)


def refresh(
    views: Annotated[list[str], typer.Argument(metavar="VIEW", help="Views, by name.", show_default=False)],
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Recompute views from their whole query."""

    def one(view: str) -> MaintenanceReport:
        on_progress(view, "full refresh")
        return engine.refresh(view)

    with engine_of(settings) as engine, progress(as_json) as on_progress:
        reports, failures = _of_each(views, one)
    _print_reports(reports, as_json)
    _fail_for(failures)


def validate(
    views: ViewNames = None,
    measure_full: Annotated[
        bool, typer.Option("--measure-full", help="Also time a full refresh into a scratch table.")
    ] = False,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Compare views with their query at the same versions, row for row."""

    def one(view: str) -> ValidationReport:
        on_progress(view, "comparing")
        return engine.validate(view, measure_full=measure_full)

    with engine_of(settings) as engine, progress(as_json) as on_progress:
        reports, failures = _of_each(views or [status.view for status in engine.status()], one)
    if as_json:
        print_json(reports)
    elif reports or failures:
        _print_validations(reports, measure_full)
    else:
        console().print(NO_VIEWS)
    _fail_for(failures, {DriftError.exit_code} if not all(report.ok for report in reports) else set())


def drop(view: ViewName, settings: SettingsFile = None, as_json: AsJson = False) -> None:
    """Remove a view with its state; its base tables stay. A view that others read is kept."""
    with engine_of(settings) as engine:
        engine.drop(view)
    if as_json:
        print_json({"dropped": view})
    else:
        console().print(f"{GOOD} {text(view)} dropped")


def _of_each(views: list[str], one: Callable[[str], Report]) -> tuple[list[Report], list[IvmError]]:
    """What ``one`` tells of each view, and the errors of those of several that it fails for; the only one's is raised."""
    reports, failures = [], []
    for view in views:
        try:
            reports.append(one(view))
        except Exception as error:
            if len(views) == 1:
                raise
            failures.append(error if isinstance(error, IvmError) else IvmError(f"{view}: {in_one_paragraph(error)}"))
    return reports, failures


def _fail_for(failures: list[IvmError], codes: Collection[int] = ()) -> None:
    """Tell the errors, and exit with the code of all that went wrong, where something did; ``codes``: of what was told."""
    for error in failures:
        console(stderr=True).print(f"{BAD} {text(' '.join(error.message.split()))}", soft_wrap=True)
    found = {*codes, *(error.exit_code for error in failures)}
    if found:
        raise typer.Exit(found.pop() if len(found) == 1 else SEVERAL_FAILED)


def _print_reports(reports: list[MaintenanceReport], as_json: bool) -> None:
    if as_json:
        print_json(reports)
    elif reports:
        print_table(
            ("", "view", "strategy", "reason", "rows changed", "time", "to versions"),
            (
                (
                    verdict(report.error is None),
                    text(report.view),
                    strategy(report.strategy),
                    text(report.reason),
                    f"{report.rows_changed:,}",
                    seconds(report.seconds),
                    text(report.to_versions),
                )
                for report in reports
            ),
            right=("rows changed", "time"),
        )
        for report in reports:
            if report.error is not None:
                console(stderr=True).print(
                    f"{BAD} {text(report.view)}: {text(' '.join(report.error.split()))}", soft_wrap=True
                )
    else:
        console().print(NO_VIEWS)
    failed = {report.error_code for report in reports if report.error is not None}
    failed = failed - {UPSTREAM_FAILED} or failed
    if failed:
        raise typer.Exit(exit_code(failed.pop()) if len(failed) == 1 else SEVERAL_FAILED)


def _print_validations(reports: list[ValidationReport], measured: bool) -> None:
    columns = (
        "",
        "view",
        "rows",
        "missing",
        "unexpected",
        "time",
        *(("full refresh",) if measured else ()),
        "versions",
    )
    print_table(
        columns,
        (
            (
                verdict(report.ok),
                text(report.view),
                f"{report.rows:,}" + (f" (sample of {report.coverage * 100:g} %)" if report.coverage < 1 else ""),
                f"{report.missing_count:,}",
                f"{report.unexpected_count:,}",
                seconds(report.seconds),
                *((seconds(report.full_seconds),) if measured else ()),
                text(report.versions),
            )
            for report in reports
        ),
        right=("rows", "missing", "unexpected", "time", "full refresh"),
    )
    for report in reports:
        for kind, rows in (("missing", report.missing), ("unexpected", report.unexpected)):
            for row in rows:
                console().print(f"  {text(report.view)}: {kind} {row.copies} × {text(row.row)}", soft_wrap=True)


def exit_code(error_code: str | None) -> int:
    """The exit code of the error with this ``code``; 1 where it is none of ours."""
    kinds = [IvmError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind.exit_code for kind in kinds if kind.code == error_code), IvmError.exit_code)
