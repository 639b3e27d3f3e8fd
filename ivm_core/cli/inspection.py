"""Commands that only look: explain, status, history, query, lineage, doctor."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.tree import Tree

from ivm_core.cli.options import AsJson, SettingsFile, ViewName, ViewNames, engine_of
from ivm_core.cli.output import (
    NO_VIEWS,
    console,
    print_json,
    print_sql,
    print_table,
    seconds,
    sql_text,
    strategy,
    text,
    verdict,
)
from ivm_core.errors import DefinitionError, EnvironmentProblem

if TYPE_CHECKING:
    from ivm_core.maintain.model import Forecast
    from ivm_core.plan.column_lineage import ColumnLineage
    from ivm_core.plan.origins import Origin


def explain(
    target: Annotated[
        str, typer.Argument(metavar="VIEW|FILE.sql", help="A view's name, a file with its SQL, or - for stdin.")
    ],
    sql: Annotated[bool, typer.Option("--sql", help="Only the generated SQL.")] = False,
    delta: Annotated[bool, typer.Option("--delta", help="Only the delta plan.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="What a registered view's next batch would cost.")] = False,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Show plan, delta plan, strategy with reason, and the generated SQL."""
    with engine_of(settings) as engine:
        if cost:
            _show_cost(engine.forecast(target), as_json)
            return
        explanation = engine.explain(_view_or_sql(target))
    if as_json:
        print_json(explanation)
    elif sql:
        print_sql(sql_text(explanation.sql))
    else:
        console().print(text(explanation.delta if delta else explanation), soft_wrap=True)


def _show_cost(forecast: Forecast, as_json: bool) -> None:
    if as_json:
        print_json(forecast)
        return
    detail = f" {forecast.detail}" if forecast.detail else ""
    rows = ", ".join(f"{count:,} of {table}" for table, count in forecast.changed_rows.items())
    predicted = (forecast.predicted_incremental_seconds, forecast.predicted_full_seconds)
    ways = "incremental {}, full refresh {}".format(*(seconds(s) or "not measured yet" for s in predicted))
    console().print(text(f"{forecast.view}: next batch {forecast.strategy} ({forecast.reason}){detail}"))
    console().print(text(f"changed rows: {rows or 'none'}; predicted: {ways}"))
    print_table(
        ("batch", "strategy", "changed rows", "predicted", "took"),
        (
            (
                str(batch.number),
                strategy(batch.strategy),
                f"{batch.changed_rows:,}",
                seconds(batch.predicted_seconds),
                seconds(batch.seconds),
            )
            for batch in forecast.past
        ),
        right=("batch", "changed rows", "predicted", "took"),
    )


def status(views: ViewNames = None, settings: SettingsFile = None, as_json: AsJson = False) -> None:
    """Show how far each view is behind, its last batch and the history left."""
    with engine_of(settings) as engine:
        found = engine.status(views or None)
    if as_json:
        print_json(found)
        return
    if not found:
        console().print(NO_VIEWS)
        return
    print_table(
        ("view", "behind", "rows", "for", "last batch", "took", "finished", "valid", "history left"),
        (
            (
                text(view.view if view.status == "active" else f"{view.view} ({view.status})"),
                text({table: f"+{lag}" for table, lag in view.lag_versions.items() if lag}),
                f"{view.lag_rows:,}" if view.lag_rows else "",
                seconds(view.lag_seconds or None),
                strategy(view.last_strategy),
                seconds(view.last_seconds),
                text(view.last_finished_at),
                verdict(view.validated),
                seconds(view.retention_left_seconds),
            )
            for view in found
        ),
        right=("rows", "for", "took", "history left"),
    )


def history(
    view: ViewName,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many batches, newest first.")] = 20,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a view's batches: strategy, reason, versions, rows and time."""
    with engine_of(settings) as engine:
        batches = engine.history(view, limit=limit)
    if as_json:
        print_json(batches)
        return
    print_table(
        ("batch", "", "finished", "strategy", "reason", "rows changed", "time", "predicted", "to versions"),
        (
            (
                str(batch.number),
                verdict(batch.error is None),
                text(batch.finished_at),
                strategy(batch.strategy),
                text(batch.reason),
                f"{batch.rows_changed:,}",
                seconds(batch.seconds),
                seconds(batch.predicted_incremental_seconds),
                text(batch.to_versions),
            )
            for batch in batches
        ),
        right=("batch", "rows changed", "time", "predicted"),
    )


def query(
    target: Annotated[str, typer.Argument(metavar="VIEW|SELECT", help="A view's name, or a SELECT in quotes.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many rows.")] = 20,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Show rows of a view, or the result of a SELECT over tables and views."""
    from ivm_core.engine.shown_rows import shown_rows

    with engine_of(settings) as engine:
        frame = (engine.query(target) if any(map(str.isspace, target.strip())) else engine.read(target)).limit(limit)
        columns = list(frame.columns)
        twice = next((name for name in columns if columns.count(name) > 1), None)
        if as_json and twice is not None:
            raise DefinitionError(
                f"Two columns are called {twice}, and a JSON object holds one of a name. Use AS, or do without --json."
            )
        rows = [tuple(row) for row in shown_rows(frame)]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    print_table([text(column) for column in columns], ([text(value) for value in row] for row in rows))


def lineage(
    view: Annotated[str | None, typer.Argument(metavar="VIEW", help="Default: all views.", show_default=False)] = None,
    columns: Annotated[
        bool, typer.Option("--columns", help="Where each column comes from, and what decides about rows.")
    ] = False,
    settings: SettingsFile = None,
    as_json: AsJson = False,
) -> None:
    """Show which tables and views each view reads, or which columns of them."""
    with engine_of(settings) as engine:
        if columns:
            _show_columns(engine.column_lineage([view] if view else None), as_json)
            return
        edges = engine.lineage(view)
    if as_json:
        print_json(edges)
        return
    if not edges:
        console().print(NO_VIEWS)
        return
    read = {source for sources in edges.values() for source in sources}
    # The first is the one asked for, by its full name.
    for root in [next(iter(edges))] if view else sorted(name for name in edges if name not in read):
        console().print(_branch(Tree(f"[bold]{text(root)}[/]"), root, edges))


def doctor(settings: SettingsFile = None, as_json: AsJson = False) -> None:
    """Check Java, JARs, settings, catalogue, Change Data Feed, retention, and how large tables are laid out."""
    with engine_of(settings) as engine:
        checks = engine.doctor()
    if as_json:
        print_json(checks)
    else:
        print_table(
            ("", "check", "found", "advice"),
            ((verdict(check.ok), text(check.name), text(check.detail), text(check.advice)) for check in checks),
        )
    if not all(check.ok for check in checks):
        raise typer.Exit(EnvironmentProblem.exit_code)


def _view_or_sql(target: str) -> str:
    if target == "-":
        return sys.stdin.read().removeprefix("\ufeff")
    path = Path(target)
    if path.suffix.lower() != ".sql":
        return target
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"{path} cannot be read as a text file with one view: {error}.") from None


def _show_columns(found: Mapping[str, ColumnLineage], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    if not found:
        console().print(NO_VIEWS)
    for view, lineage in found.items():
        lines = [*lineage.columns.items(), *([("(rows)", lineage.rows)] if lineage.rows else [])]
        print_table(
            ("column", "comes from", "by"),
            (
                (text(name if first else ""), text(source), text(how))
                for name, origins in lines
                for first, source, how in _origins(origins)
            ),
            title=f"[bold]{text(view)}[/]",
        )


def _origins(origins: tuple[Origin, ...]) -> Iterator[tuple[bool, str, str]]:
    """A line for each table's column: whether it is the first, the column, and what is done with it."""
    effects: dict[str, list[str]] = {}
    for origin in origins:
        effects.setdefault(f"{origin.table}.{origin.column}", []).append(str(origin.effect).replace("_", " "))
    lines = effects or {"": []}
    for number, (source, hows) in enumerate(lines.items()):
        yield number == 0, source, ", ".join(hows)


def _branch(tree: Tree, view: str, edges: dict[str, tuple[str, ...]]) -> Tree:
    for source in edges.get(view, ()):
        _branch(tree.add(text(source)), source, edges)
    return tree
