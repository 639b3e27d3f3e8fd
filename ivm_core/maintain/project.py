"""Keep a folder of SQL files, the catalogue and the manifest in step.

``<project>/tables/*.sql`` holds one CREATE TABLE each, ``<project>/views/*.sql`` one view definition each,
``<project>/expectations/*.json`` and ``*.py`` what users state of a view's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeVar

from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Reason
from ivm_core.engine.tables import create_table, describe_table, table_exists
from ivm_core.errors import (
    BaseTableError,
    DefinitionError,
    IvmError,
    NotIncrementalError,
    SchemaChangedError,
    SettingsError,
    ViewExistsError,
)
from ivm_core.maintain.auxiliaries import check_properties, is_auxiliary, owner_of
from ivm_core.maintain.check import check_together, check_view
from ivm_core.maintain.columns import column_change
from ivm_core.maintain.current import locked
from ivm_core.maintain.expectations import check_names, read_folder
from ivm_core.maintain.manifest import write_manifest
from ivm_core.maintain.model import PlannedChange
from ivm_core.maintain.next_batch import replaced_table
from ivm_core.maintain.places import follow_tables, record_table
from ivm_core.maintain.register import bring_together, create_view, drop_view
from ivm_core.maintain.session import Session
from ivm_core.maintain.slots import shared_tables
from ivm_core.maintain.standing import Standing, standing
from ivm_core.maintain.view import build
from ivm_core.plan.definition import ViewDefinition, parse_definition
from ivm_core.plan.definition_table import TableDefinition, parse_table
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.table_names import tables_of

Parsed = TypeVar("Parsed")


def plan_project(session: Session, folder: str | Path | None = None) -> list[PlannedChange]:
    """What ``apply_project`` would do, in its order. Raises DefinitionError naming the file."""
    tables, views = _read(session, folder)
    read_folder(_root(session, folder), views)
    changes = [_table_change(session, table) for table in tables]
    changes += _view_changes(session, views)
    wanted = {view.name: tuple(tables_of(view.query)) for view in views}
    changes += [_without_file(session, view, wanted) for view in session.catalog.views() if view.name not in wanted]
    return changes


def _without_file(session: Session, view: ViewRecord, wanted: Mapping[str, Collection[str]]) -> PlannedChange:
    """Views that were created by hand have no file: apply leaves them alone, and says so."""
    owner = owner_of(view)
    reading = [name for name in session.catalog.dependants(view.name) if view.name in wanted.get(name, (view.name,))]
    if owner in wanted and reading:
        return PlannedChange("view", view.name, "unmanaged", f"{owner} keeps it no more, but {reading[0]} reads it")
    if owner in wanted:
        return PlannedChange("view", view.name, "drop", f"{owner} keeps it no more")
    if owner is not None:
        return PlannedChange(
            "view", view.name, "unmanaged", f"it is kept for {owner}, which has no file in the project"
        )
    return PlannedChange("view", view.name, "unmanaged", "it has no file in the project; `ivm drop` removes it")


def apply_project(
    session: Session, folder: str | Path | None = None, on_progress: Callable[[str, str], None] | None = None
) -> list[PlannedChange]:
    """Create missing tables, create or change views, write the manifest. Doing it again changes nothing.

    Where it is broken off, the manifest tells of the views as they are by then: a view that went to another group is
    maintained there, and one that is new is maintained at all.
    """
    tables, views = _read(session, folder)
    expectations = read_folder(_root(session, folder), views)
    changes = plan_project(session, folder)
    try:
        _apply(session, tables, views, changes, on_progress)
        check_names(expectations, session.catalog.views())
    except BaseException:  # Ctrl-C too
        with suppress(IvmError):  # what went wrong first is told
            write_manifest(session)
        raise
    write_manifest(session, [view.name for view in views], expectations)
    return changes


def _apply(
    session: Session,
    tables: list[TableDefinition],
    views: list[ViewDefinition],
    changes: list[PlannedChange],
    on_progress: Callable[[str, str], None] | None,
) -> None:
    actions = {(change.kind, change.name): change.action for change in changes}
    with session.describing_once():
        for table in tables:
            if on_progress:
                on_progress(table.name, "table")
            _apply_table(session, table, actions["table", table.name])
        if "replace" in actions.values():  # a view above one that changes may be forgotten
            below: dict[str, TableSchema | None] = {}
            for view in views:
                with naming_file(view.file):
                    check_together(session, view, below)
        with session.shared_reads(shared=shared_tables(tables_of(view.query) for view in views)):
            for view in views:
                if on_progress:
                    on_progress(view.name, actions["view", view.name])
                with naming_file(view.file):
                    _apply_view(session, view, actions["view", view.name])
            for change in reversed(changes):
                if change.action == "drop":
                    drop_view(session, change.name)


def _root(session: Session, folder: str | Path | None) -> Path:
    root = Path(folder) if folder is not None else session.settings.project_dir()
    if not root.is_dir():
        raise SettingsError(f"There is no folder {root}. Give the project's folder, or run `ivm init`.")
    return root


def _read(session: Session, folder: str | Path | None) -> tuple[list[TableDefinition], list[ViewDefinition]]:
    root = _root(session, folder)
    tables = [_parse(file, parse_table) for file in sorted((root / "tables").glob("*.sql"))]
    views: dict[str, ViewDefinition] = {}
    reads: dict[str, list[str]] = {}
    for file in sorted((root / "views").glob("*.sql")):
        with naming_file(file.name):
            definition = parse_definition(file.read_text(encoding="utf-8-sig"))
            check_properties(definition)
            for view in (*definition.auxiliaries, definition):
                if view.name in views:
                    raise DefinitionError(f"{view.name} is defined in {views[view.name].file} too.", construct="name")
                views[view.name] = replace(view, file=file.name)
                reads[view.name] = list(tables_of(view.query))
    _check_schedules(views.values())
    for known in session.catalog.views():  # one without a file stays as it is
        reads.setdefault(known.name, list(known.tables))
    order = TopologicalSorter({name: [t for t in tables if t in reads] for name, tables in reads.items()})
    try:
        return tables, [views[name] for name in order.static_order() if name in views]
    except CycleError as error:
        files = {name: view.file for name, view in views.items()}
        circle = " → ".join(f"{name} ({files.get(name, 'without a file')})" for name in error.args[1])
        raise DefinitionError(
            f"The views read each other in a circle: {circle}. Change what one of them reads, or drop one that has no file."
        ) from None


def _check_schedules(views: Iterable[ViewDefinition]) -> None:
    """A group runs as one: raise DefinitionError where two of its views ask for different schedules."""
    first: dict[str, ViewDefinition] = {}
    for view in views:
        other = first.setdefault(view.group, view) if view.schedule else view
        if other.schedule != view.schedule:
            raise DefinitionError(
                f"{view.file}: {view.name} asks for SCHEDULE CRON '{view.schedule}' and {other.name} ({other.file}) for "
                f"'{other.schedule}', but both are in the group {view.group}, which runs as one. Give them different groups.",
                construct="SCHEDULE",
            )


def _parse(file: Path, parse: Callable[[str], Parsed]) -> Parsed:
    with naming_file(file.name):
        return parse(file.read_text(encoding="utf-8-sig"))


@contextmanager
def naming_file(file: str) -> Iterator[None]:
    """Errors in a definition say which file it is in."""
    try:
        yield
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DefinitionError(f"{file} is not UTF-8 text (line {line}): save it as UTF-8.", construct="text") from None
    except (DefinitionError, NotIncrementalError) as error:
        error.message = f"{file}: {error.message}"
        error.args = (error.message,)
        raise


def _table_change(session: Session, table: TableDefinition) -> PlannedChange:
    known = session.catalog.table(table.name)
    if known is None:
        return PlannedChange("table", table.name, "create")
    if (known.primary_key, known.foreign_keys) != _keys(table):
        return PlannedChange("table", table.name, "update", "declared keys changed")
    there = {name.lower() for name, _ in known.columns}
    if missing := [name for name, _ in table.schema.columns if name.lower() not in there]:
        detail = f"its file has columns that it has not: {', '.join(missing)}. ALTER TABLE adds them, apply does not"
        return PlannedChange("table", table.name, "unmanaged", detail)
    return PlannedChange("table", table.name, "unchanged")


def _view_changes(session: Session, views: Sequence[ViewDefinition]) -> list[PlannedChange]:
    """Of the views in dependency order: those above one that is built for another query are built anew with it."""
    found: dict[str, PlannedChange] = {}
    for view in views:
        change = _view_change(session, view)
        below = [name for name in tables_of(view.query) if name in found and found[name].action == "replace"]
        if below and change.action in ("unchanged", "update"):
            detail = f"{below[0]}, which it reads, is built anew: so is the view"
            change = PlannedChange("view", view.name, "replace", detail)
        found[view.name] = change
    return list(found.values())


def _view_change(session: Session, view: ViewDefinition) -> PlannedChange:
    known = session.catalog.find_view(view.name)
    if known is None or known.status == "creating":
        return PlannedChange("view", view.name, "create")
    if view.auxiliary_of is not None and not is_auxiliary(known):
        raise ViewExistsError(
            f"{view.file}: there is a view {view.name}, and a MATERIALIZED CTE would be one. Rename the CTE."
        )
    now = standing(session, known)
    change = column_change(session, known, now)
    if change is not None:
        return PlannedChange("view", view.name, "replace", f"{change}: the view is built anew")
    if parse_definition(known.sql).query != view.query:
        return PlannedChange("view", view.name, "replace", "the query changed: the view is built anew")
    if unbuilt := _unbuilt(session, known, now):
        return PlannedChange("view", view.name, "replace", f"{unbuilt}: the view is built anew")
    if known.sql.strip() == view.sql.strip():
        return PlannedChange("view", view.name, "unchanged")
    return PlannedChange("view", view.name, "update", "settings changed, no data is touched")


def _unbuilt(session: Session, view: ViewRecord, now: Standing | None) -> str | None:
    """What an apply that was broken off, or whose build failed, left to be done; None where it left nothing."""
    if now is None:
        return None  # its next batch builds it, whatever its policy
    if now.fingerprint != view.fingerprint:
        return "its state is of another form of its query"
    below = [stood for stood in now.versions if session.catalog.find_view(stood.table) is not None]
    with suppress(BaseTableError, SchemaChangedError):  # said by what meets it
        if (name := replaced_table(session, below)) is not None:
            return f"{name}, which it reads, was built anew"
    return None


def _apply_table(session: Session, table: TableDefinition, action: str) -> None:
    if action == "unchanged":
        follow_tables(session, [table.name], opening=True)
        return
    if not table_exists(session.spark_with_names, table.name):
        location = f"{session.settings.warehouse.rstrip('/')}/tables/{table.name.replace('.', '/')}"
        create_table(session.spark_with_names, table, location)
    info = describe_table(session.spark_with_names, table.name)
    record_table(session, info, _keys(table))
    session.note_described(table.name)


def _apply_view(session: Session, view: ViewDefinition, action: str) -> None:
    if action == "create":
        create_view(session, view.sql, owner=view.auxiliary_of)
    elif action in ("update", "replace"):
        compiled, columns = check_view(session, view)
        # A batch under way is one of the query before, and ends first.
        with locked(session, session.catalog.view(view.name)) as record:
            record = replace(
                record,
                sql=view.sql,
                group=view.group,
                schedule=view.schedule,
                policy=view.policy,
                comment=view.comment,
                properties=view.properties,
                fingerprint=compiled.fingerprint,
                tables=compiled.tables,
                columns=columns,
            )
            session.catalog.update_view(record)
        session.forget(record.view_id)
        if action == "replace":
            bring_together(session, record)
            build(session, record, Reason.PLAN_CHANGED)
        session.show(record)


def _keys(table: TableDefinition) -> tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]]:
    keys: Iterable[tuple[tuple[str, ...], str, tuple[str, ...]]] = (
        (key.columns, key.table, key.referenced) for key in table.schema.foreign_keys
    )
    return table.schema.primary_key, tuple(keys)
