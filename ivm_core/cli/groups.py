"""Maintenance groups as the manifest tells them: which DAG a group or a view belongs to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ivm_core.errors import SettingsError, UnknownViewError

SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
READABLE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Target:
    """The DAG to trigger; ``views`` None: all of its group."""

    dag_id: str
    group: str
    views: tuple[str, ...] | None = None


def find_target(manifest: Path, name: str) -> Target:
    """The group of that name, or the group of the view of that name. Raises UnknownViewError, SettingsError."""
    try:
        groups = json.loads(manifest.read_text("utf-8"))["groups"]
        members = {str(group["name"]): [str(view["name"]) for view in group["views"]] for group in groups}
    except FileNotFoundError:
        raise SettingsError(f"There is no manifest {manifest}. Run `ivm apply`, which writes it.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise SettingsError(f"The manifest {manifest} cannot be read. Run `ivm apply` to write it again.") from None
    if name.lower() in members:
        return Target(dag_id(name.lower()), name.lower())
    view = name.lower() if "." in name else f"default.{name.lower()}"
    for group, views in members.items():
        if view in views:
            return Target(dag_id(group), group, (view,))
    known = ", ".join(sorted(members)[:20]) or "none"
    raise UnknownViewError(f"There is no group or view {name!r:.100}. The groups are: {known}.")


def dag_id(group: str) -> str:
    """The id of a group's DAG: readable, and distinct for distinct groups. The plugin's ``slug`` makes the same.

    >>> dag_id("hourly")
    'ivm_hourly'
    """
    if group and len(group) <= READABLE_LENGTH and set(group) <= SAFE:
        return f"ivm_{group}"
    words = "".join(letter if letter in SAFE else "-" for letter in group.lower()).split("-")
    readable = "-".join(word for word in words if word)[:READABLE_LENGTH]
    digest = sha256(group.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"ivm_{readable}-{digest}" if readable else f"ivm_{digest}"
