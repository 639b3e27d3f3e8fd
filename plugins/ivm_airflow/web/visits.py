"""What one visitor may see of the deployment: its views, those groups whose DAG they may read, and the Data Docs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ivm_airflow.deployment import documented, reports_folder
from ivm_airflow.slug import dag_id
from ivm_airflow.web.access import Access, Visitor

if TYPE_CHECKING:
    from ivm_airflow.web.store import Store
    from ivm_core.catalog.model import ViewActivity


@dataclass(frozen=True, slots=True)
class Visit:
    """The deployment for one request. ``readable``: the groups that the visitor may see.

    ``sees_all``: whether no group is hidden from the visitor, of those that have views or have left findings.
    """

    store: Store
    views: tuple[ViewActivity, ...]
    readable: frozenset[str]
    sees_all: bool

    def group_of(self, name: str) -> str | None:
        """The group of a registered view that the visitor may see."""
        groups = (item.view.group for item in self.views if item.view.name == name)
        return next((group for group in groups if group in self.readable), None)

    def members(self, group: str) -> frozenset[str]:
        """The registered views of a group."""
        return frozenset(item.view.name for item in self.views if item.view.group == group)


class Visits:
    """The store is opened by the first visit that needs it, and anew after a failure."""

    def __init__(self, open_store: Callable[[], Store], access: Access) -> None:
        self._open, self._access = open_store, access
        self._store: Store | None = None
        self._opening = threading.Lock()

    def begin(self, visitor: Visitor) -> Visit:
        """Read the catalogue and ask for the visitor's permissions. Raises IvmError."""
        with self._opening:
            if self._store is None:
                self._store = self._open()
        views = self._store.activity()
        groups = {item.view.group for item in views}
        ids = {group: dag_id(group) for group in groups}
        known = {*ids.values(), *documented()}
        readable = self._access.readable(visitor, known) if known else frozenset()
        groups_seen = frozenset(group for group in groups if ids[group] in readable)
        return Visit(self._store, views, groups_seen, sees_all=bool(known) and known <= readable)


def docs_folder() -> Path | None:
    """The Data Docs that validations publish, their pages only; None before the first."""
    from ivm_core.engine.quality import docs_site

    folder = docs_site(reports_folder() / "quality")
    return folder if folder.is_dir() else None


def docs_file(path: str) -> Path | None:
    """A file of the Data Docs; None for what is not one, wherever the path may lead."""
    folder = docs_folder()
    if folder is None or "\0" in path:
        return None
    root = folder.resolve()
    file = (root / path).resolve()
    return file if file.is_relative_to(root) and file.is_file() else None
