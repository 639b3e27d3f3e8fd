"""The compiled manifest: the maintenance groups and their views, read from one JSON file and nothing else."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "ivm.toml"
DEFAULT_PATH = ".ivm/manifest.json"
VERSION = 1
_ADVICE = "Run `ivm apply` to write it again."


class ManifestError(ValueError):
    """The manifest is not what this version can read; shown as the DAG file's import error."""


@dataclass(frozen=True, slots=True)
class GroupView:
    """A view as its group's DAG shows it. ``validate_every_seconds`` None: only when a run asks for it."""

    name: str
    depends_on: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    policy: str = "auto"
    on_update: bool = False
    validate_every_seconds: float | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A maintenance group; ``schedule`` is a cron expression, None for none.

    ``on_update``: a run also starts when a table changed that a view with TRIGGER ON UPDATE reads. ``watched``: tables
    whose logs, at these locations, are looked at every ``watch_every_seconds`` for that.
    """

    name: str
    schedule: str | None
    views: tuple[GroupView, ...]
    on_update: bool = False
    target_lag_seconds: float | None = None
    watch_every_seconds: float | None = None
    watched: tuple[tuple[str, str], ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The base tables, and the views of other groups, that this group reads, by name."""
        return self._inputs(self.views)

    @property
    def triggers(self) -> tuple[str, ...]:
        """Those of the inputs whose updates start a run."""
        return self._inputs(tuple(view for view in self.views if view.on_update))

    def _inputs(self, views: tuple[GroupView, ...]) -> tuple[str, ...]:
        own = {view.name: view for view in self.views}
        found: set[str] = set()
        pending, seen = [view.name for view in views], set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            found.update(own[name].tables)
            found.update(read for read in own[name].depends_on if read not in own)
            # What a view of the group itself reads reaches this one through it.
            pending += [read for read in own[name].depends_on if read in own]
        return tuple(sorted(found))


def settings_path() -> Path | None:
    """The deployment's settings file: ``IVM_SETTINGS`` or the one in that folder, else ``ivm.toml`` here, else None.

    Found as ``Settings.load`` finds it, which is not imported here: DAG files are parsed again and again.
    """
    if named := os.environ.get("IVM_SETTINGS"):
        path = Path(named).expanduser()
        return path / FILE_NAME if path.is_dir() else path
    return Path(FILE_NAME) if Path(FILE_NAME).is_file() else None


def manifest_path() -> Path:
    """``IVM_MANIFEST``, otherwise what the settings file says; relative to its folder, where there is one."""
    settings = settings_path()
    named = os.environ.get("IVM_MANIFEST")
    if not named and settings is not None and settings.exists():
        named = tomllib.loads(settings.read_text("utf-8-sig")).get("manifest")
    folder = Path() if settings is None else settings.parent.resolve()
    return folder / Path(str(named or DEFAULT_PATH)).expanduser()


def read_groups(path: Path | None = None) -> tuple[Group, ...]:
    """The groups in a stable order; none where no manifest has been written yet. Raises ManifestError."""
    path = path or manifest_path()
    document = _read(path)
    try:
        groups = [_group(entry) for entry in document["groups"]] if document else []
    except (KeyError, TypeError) as error:
        raise ManifestError(f"The manifest {path} lacks or misspells {error}. {_ADVICE}") from error
    return tuple(sorted(groups, key=lambda group: group.name))


def read_stated(path: Path | None = None) -> dict[str, str]:
    """Users' own expectations by view, each view's as JSON text; none where no manifest has been written yet.

    Raises ManifestError.
    """
    document = _read(path or manifest_path())
    return {view: json.dumps(listed) for view, listed in (document.get("expectations") or {}).items()}


def _read(path: Path) -> dict[str, Any]:
    """The manifest as it was written, empty where it has not been yet. Raises ManifestError."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ManifestError(f"The manifest {path} is not valid JSON ({error}). {_ADVICE}") from error
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ManifestError(f"The manifest {path} is not of version {VERSION}. {_ADVICE}")
    return document


def _group(entry: dict[str, Any]) -> Group:
    views = tuple(
        GroupView(
            name=view["name"],
            depends_on=tuple(view.get("depends_on", ())),
            tables=tuple(view.get("tables", ())),
            policy=view.get("policy", "auto"),
            on_update=bool(view.get("on_update")),
            validate_every_seconds=view.get("validate_every_seconds"),
            comment=view.get("comment") or "",
        )
        for view in entry["views"]
    )
    return Group(
        name=entry["name"],
        schedule=entry.get("schedule"),
        views=tuple(sorted(views, key=lambda view: view.name)),
        on_update=bool(entry.get("on_update")),
        target_lag_seconds=entry.get("target_lag_seconds"),
        watch_every_seconds=entry.get("watch_every_seconds"),
        watched=tuple(sorted(entry.get("watched", {}).items())),
    )
