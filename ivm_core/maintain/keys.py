"""A base table's declared keys against the columns that it has: what plans may know of it."""

from __future__ import annotations

from collections.abc import Iterable

from ivm_core.catalog.model import TableRecord
from ivm_core.errors import UnknownColumnError
from ivm_core.plan.schema import ForeignKey, TableSchema
from ivm_core.plan.types import without_length


def schema_of(table: TableRecord) -> TableSchema:
    """A registered base table as plans see it: without keys over columns that were dropped since they were declared."""
    primary = () if _missing(table, table.primary_key) else table.primary_key
    foreign = tuple(ForeignKey(*key) for key in table.foreign_keys if not _missing(table, key[0]))
    return TableSchema(table.name, table.columns, primary, foreign)


def columns_of(table: TableRecord) -> tuple[tuple[str, str], ...]:
    """Name and type of each of its columns as expressions see them: a CHAR(n) is a STRING there."""
    return tuple((name, without_length(type_)) for name, type_ in table.columns)


def check_keys(table: TableRecord) -> None:
    """Raise UnknownColumnError where a key is declared over a column that the table does not have."""
    named = [*table.primary_key, *(name for key in table.foreign_keys for name in key[0])]
    for name in _missing(table, named):
        raise UnknownColumnError(
            f"{table.name} has no column {name}, which a key is declared over. Its columns are "
            f"{', '.join(name for name, _ in table.columns)}. Declare the key over these.",
            construct=name,
        )


def _missing(table: TableRecord, names: Iterable[str]) -> list[str]:
    known = {name.lower() for name, _ in table.columns}
    return [name for name in names if name.lower() not in known]
