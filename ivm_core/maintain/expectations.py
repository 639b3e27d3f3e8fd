"""Users' own expectations: ``<project>/expectations/<view>.json`` or ``.py``, checked without running or importing anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ivm_core.catalog.model import ViewRecord
from ivm_core.errors import DefinitionError
from ivm_core.plan.definition import ViewDefinition
from ivm_core.validate.expectations import Expectation, read_expectations
from ivm_core.validate.expectations_python import read_python

FOLDER = "expectations"
_READERS = {".json": read_expectations, ".py": read_python}


def read_folder(root: Path, views: Iterable[ViewDefinition]) -> dict[str, tuple[Expectation, ...]]:
    """The expectations of each view that has a file, columns aside, which only a compiled view has.

    A file goes by the view's full name or by that of its SQL file. Raises DefinitionError naming the file.
    """
    names = {key: view.name for view in views for key in (view.name, Path(view.file or view.name).stem.lower())}
    found: dict[str, tuple[Expectation, ...]] = {}
    for file in sorted((root / FOLDER).glob("*.*")):
        try:
            view = names.get(file.stem.lower())
            read = _READERS.get(file.suffix)
            if read is None:
                raise DefinitionError("Expectations are .json or .py files.", construct=FOLDER)
            if view is None or view in found:
                problem = "a view without a file in the project" if view is None else f"{view} a second time"
                raise DefinitionError(f"The file names {problem}.", construct=FOLDER)
            found[view] = read(file.read_text(encoding="utf-8-sig"))
        except (DefinitionError, UnicodeDecodeError) as error:
            message = error.message if isinstance(error, DefinitionError) else "This is not UTF-8 text."
            raise DefinitionError(f"{FOLDER}/{file.name}: {message}", construct=FOLDER) from None
    return found


def check_names(expectations: Mapping[str, tuple[Expectation, ...]], views: Iterable[ViewRecord]) -> None:
    """Raise DefinitionError where an expectation names a column that its view does not have."""
    columns = {view.name: [name for name, _ in view.columns] for view in views}
    for view, listed in expectations.items():
        for expectation in listed:
            unknown = [name for name in expectation.columns if name not in columns[view]]
            if unknown:
                raise DefinitionError(
                    f"The expectations of {view} name the column {unknown[0]!r}; it has {', '.join(columns[view])}. "
                    "The manifest keeps those that it had.",
                    construct=FOLDER,
                )
