"""Copy the template into a folder, all files or none."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ivm_core.errors import SettingsError

# Version control and packaging treat files of these names specially, so the template has them under others.
RENAMED = {"gitignore": ".gitignore"}


def write_project(folder: Path) -> list[str]:
    """Write the template into ``folder`` and return the relative paths.

    Raises SettingsError, before writing anything, where a file would be overwritten.
    """
    found = dict(_walk(files(__package__) / "template"))
    if folder.exists() and not folder.is_dir():
        raise SettingsError(f"{folder} is a file: name a folder for the project.")
    if present := [name for name in found if (folder / name).exists()]:
        raise SettingsError(
            f"{folder} already holds {', '.join(present)}: nothing was written. "
            "Name another folder, as in `ivm init shop`."
        )
    try:
        for name, source in found.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror}.") from None
    return list(found)


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        name = prefix + RENAMED.get(entry.name, entry.name)
        if entry.is_dir():
            found += _walk(entry, name + "/")
        elif not entry.name.endswith((".pyc", ".pyo")):
            found.append((name, entry))
    return found
