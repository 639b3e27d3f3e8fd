"""The manifest: groups and views as DAG files read them, without a database, Spark or a clock."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import SettingsError
from ivm_core.maintain.session import Session
from ivm_core.maintain.slots import below_of
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import ViewDefinition, parse_definition
from ivm_core.validate.expectations import Expectation, to_json

MANIFEST_VERSION = 1


def write_manifest(
    session: Session,
    project: Collection[str] = (),
    expectations: Mapping[str, Collection[Expectation]] = MappingProxyType({}),
) -> Path:
    """Write what DAG files read: groups and views in a stable order, nothing that changes from run to run.

    ``project``: the views that have files in it; ``expectations``: users' own of these, checked. Those of other views are kept.
    """
    groups: dict[str, list[ViewRecord]] = {}
    for view in session.catalog.views():
        groups.setdefault(view.group, []).append(view)
    below = below_of(view for views in groups.values() for view in views)
    path = session.settings.manifest
    others = {view.name for views in groups.values() for view in views} - set(project)
    stated = {name: listed for name, listed in _stated_before(path).items() if name in others}
    stated |= {name: to_json(listed) for name, listed in expectations.items() if listed}
    document: dict[str, object] = {
        "version": MANIFEST_VERSION,
        "groups": [
            _group(session, group, sorted(members, key=lambda view: view.name), below)
            for group, members in sorted(groups.items())
        ],
        "expectations": dict(sorted(stated.items())),
    }
    # Written beside and renamed, by each process its own: the DAG processor never reads half a file.
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise SettingsError(
            f"The manifest {path} cannot be written: {error.strerror}. Tables and views are as the files say; correct "
            "`manifest` in the settings, or the folder, and run `ivm apply` again."
        ) from None
    return path


def _stated_before(path: Path) -> dict[str, object]:
    """The expectations in the manifest of the apply before, which may have been another project's."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    stated = document.get("expectations") if isinstance(document, dict) else None
    return stated if isinstance(stated, dict) else {}


def _group(session: Session, name: str, members: list[ViewRecord], below: dict[str, set[str]]) -> dict[str, object]:
    definitions = [parse_definition(view.sql) for view in members]
    watching = [view.name for view, definition in zip(members, definitions, strict=True) if definition.watch_every]
    watched = _tables_below(watching, {view.name: view for view in members}, below)
    return {
        "name": name,
        "schedule": next((view.schedule for view in members if view.schedule), None),
        "on_update": any(definition.on_update for definition in definitions),
        "target_lag_seconds": _least(definition.target_lag for definition in definitions),
        "watch_every_seconds": _least(definition.watch_every for definition in definitions),
        "watched": {table: session.location(table) for table in sorted(watched)},
        "views": [_view(view, definition, below) for view, definition in zip(members, definitions, strict=True)],
    }


def _view(view: ViewRecord, definition: ViewDefinition, below: dict[str, set[str]]) -> dict[str, object]:
    return {
        "name": view.name,
        "depends_on": sorted(below[view.name]),
        "tables": _tables(view, below),
        "policy": str(view.policy),
        "on_update": definition.on_update,
        "validate_every_seconds": _seconds(definition.validate_every),
        "comment": view.comment,
    }


def _tables(view: ViewRecord, views: Collection[str]) -> list[str]:
    return sorted(table for table in view.tables if table not in views and table != CLOCK)


def _tables_below(names: Collection[str], members: Mapping[str, ViewRecord], below: dict[str, set[str]]) -> set[str]:
    """The base tables that the views read, also through other views of their group."""
    found, seen, pending = set[str](), set[str](), list(names)
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            found.update(_tables(members[name], below))
            pending += below[name] & members.keys()
    return found


def _least(intervals: Iterable[timedelta | None]) -> float | None:
    return min((interval.total_seconds() for interval in intervals if interval is not None), default=None)


def _seconds(interval: timedelta | None) -> float | None:
    return None if interval is None else interval.total_seconds()
