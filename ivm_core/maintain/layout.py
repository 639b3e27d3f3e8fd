"""Whether large base tables are laid out by a column that views look for rows by. Known from plans and logs alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ivm_core.engine.layout import files_with_a_value
from ivm_core.errors import BaseTableError, IvmError
from ivm_core.job.facts import LARGE
from ivm_core.job.model import Slice
from ivm_core.maintain.model import Check
from ivm_core.maintain.session import Session
from ivm_core.plan.clock import CLOCK

FEW_FILES = 4  # of a table with fewer there is little to leave out
SCATTERED = 0.5  # share of the files from which on looking for a value leaves out too little
# OPTIMIZE clusters into as many ranges as files of this size hold the table, by default of 1 GiB: one range of most tables.
FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
RANGES = 64
SMALLEST, LARGEST = 2**24, 2**30


@dataclass(frozen=True, slots=True)
class Layout:
    """How a large table lies; ``statements`` lay it out by what batches look for, none where its files leave out enough."""

    table: str
    detail: str
    statements: tuple[str, ...] = ()


def layout_checks(session: Session) -> list[Check]:
    """One finding for each large table whose rows batches look for by key; advice where its files leave out few."""
    return [_check(layout) for layout in layouts(session)]


def layouts(session: Session) -> Iterator[Layout]:
    """How each large table lies whose rows batches look for by key."""
    for table, views in sorted(_sought(session).items()):
        if (found := _layout(session, table, views)) is not None:
            yield found


def _check(layout: Layout) -> Check:
    advice = f"{', then '.join(layout.statements)}: batches would open fewer files" if layout.statements else ""
    return Check(f"layout {layout.table}", True, layout.detail, advice)


def _sought(session: Session) -> dict[str, Counter[str]]:
    """By base table: the columns, in lower case, by whose values batches look for rows, and how many views' do."""
    sought: dict[str, Counter[str]] = defaultdict(Counter)
    for view in session.catalog.views():
        try:
            job = session.job(view, frozenset(view.tables))
        except IvmError:
            continue  # its batches read everything, or cannot be: other checks tell
        columns = set()
        for item in (*job.inputs, *job.write.recompute_inputs):
            if item.slice in (Slice.BEFORE, Slice.AFTER) and item.table != CLOCK:
                sources = {column.name: column.source.lower() for column in item.columns}
                columns |= {(item.table, sources[bound.column]) for bound in item.bounds}
        for table, column in columns:
            if session.catalog.find_view(table) is None:
                sought[table][column] += 1
    return sought


def _layout(session: Session, table: str, views: Counter[str]) -> Layout | None:
    location = session.location(table)
    log = session.log(location)
    try:
        size = log.size()
    except BaseTableError:
        return None  # it is missing: other checks tell
    known = files_with_a_value(location, log.version(), views) if (size.rows or 0) >= LARGE else None
    if known is None or known[0] < FEW_FILES or not known[1]:
        return None
    number, files = known
    told = [
        f"{column} ({_times(count)}, in {files[column]:.0f})"
        for column, count in views.most_common()
        if column in files
    ]
    detail = f"of {number} files one value is in about so many: {', '.join(told)}"
    if min(files.values()) <= SCATTERED * number:
        return Layout(table, detail)
    best = next(column for column, _ in views.most_common() if column in files)
    range_size = min(max(size.size_bytes // RANGES, SMALLEST), LARGEST)
    statements = (
        f"SET {FILE_SIZE} = {range_size}",
        f"ALTER TABLE {table} CLUSTER BY ({best})",
        f"OPTIMIZE {table} FULL",
    )
    return Layout(table, detail, statements)


def _times(views: int) -> str:
    return "1 view" if views == 1 else f"{views} views"
