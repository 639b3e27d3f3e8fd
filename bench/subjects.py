"""The views that a benchmark measures, each built twice: as it is, and as a copy that is always kept incrementally."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from sqlglot import exp

from bench.deployment import Deployment
from bench.plain_spark import renaming
from ivm_core.errors import IvmError, SettingsError
from ivm_core.plan.definition import ViewDefinition, parse_definition
from ivm_core.plan.materialized import SEPARATOR
from ivm_core.plan.table_names import tables_of

COPY_SCHEMA = "bench_incremental"


@dataclass(frozen=True, slots=True)
class Subject:
    """A view under its own name with the policy auto, and a copy whose policy is incremental: each has its own state.

    ``materialized``: the CTEs of the query that each keeps as a view of its own.
    """

    name: str
    copy: str
    query: exp.Expression
    tables: tuple[str, ...]
    materialized: frozenset[str] = frozenset()


def read_views(folders: Iterable[Path], wanted: Iterable[str] = ()) -> tuple[ViewDefinition, ...]:
    """The definitions of some folders, upstream first; of those ``wanted`` (by name or the beginning of it) and what they read.

    Raises DefinitionError, and SettingsError where there is none of a wanted name.
    """
    wanted = tuple(wanted)
    files = sorted((file for folder in folders for file in folder.glob("*.sql")), key=lambda file: file.name)
    found = [parse_definition(file.read_text("utf-8")) for file in files]
    by_name = {view.name: view for view in found}
    reads = {name: [table for table in tables_of(view.whole) if table in by_name] for name, view in by_name.items()}
    views = [by_name[name] for name in TopologicalSorter(reads).static_order()]
    chosen: set[str] = set()
    if unknown := [word for word in wanted if not any(_is_called(name, word) for name in by_name)]:
        raise SettingsError(f"No view of this benchmark begins with {', '.join(unknown)}.")
    for view in reversed(views):
        if not wanted or view.name in chosen or any(_is_called(view.name, word) for word in wanted):
            chosen.add(view.name)
            chosen.update(tables_of(view.whole))
    return tuple(view for view in views if view.name in chosen)


def _is_called(name: str, word: str) -> bool:
    return name == word or name.rpartition(".")[2].startswith(word)


def create_subjects(
    place: Deployment, views: Iterable[ViewDefinition], on_view: Callable[[str], None]
) -> tuple[tuple[Subject, ...], dict[str, str]]:
    """Build each view and its copy; those that cannot be kept are returned by name, with the reason."""
    subjects: list[Subject] = []
    refused: dict[str, str] = {}
    for view in views:
        copies = {subject.name: subject.copy for subject in subjects}
        subject = Subject(
            view.name,
            f"{COPY_SCHEMA}.{view.name.replace('.', '__')}",
            view.whole,
            tables_of(view.whole),
            frozenset(part.name.removeprefix(view.name + SEPARATOR) for part in view.auxiliaries),
        )
        try:
            place.engine.create(view.sql)
            place.engine.create(_copy_statement(subject, copies))
            subjects.append(subject)
        except IvmError as error:
            refused[view.name] = error.message
            with suppress(IvmError):
                place.engine.drop(view.name)
        on_view(view.name)
    return tuple(subjects), refused


def _copy_statement(subject: Subject, copies: Mapping[str, str]) -> str:
    properties = [
        exp.MaterializedProperty(),
        exp.Property(this=exp.Literal.string("ivm.refresh_policy"), value=exp.Literal.string("incremental")),
    ]
    query = renaming(subject.query, copies)
    for cte in query.find_all(exp.CTE):
        cte.set("materialized", cte.alias.lower() in subject.materialized or None)
    statement = exp.Create(
        this=exp.to_table(subject.copy),
        kind="VIEW",
        properties=exp.Properties(expressions=properties),
        expression=query,
    )
    return str(statement.sql("spark"))
