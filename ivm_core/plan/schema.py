"""What a plan knows of a base table: its columns with their Spark types, its declared keys; and the types of plans."""

from __future__ import annotations

from dataclasses import dataclass

from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import types_of

__all__ = ["ForeignKey", "TableSchema", "type_of", "types_of"]


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Declared, not enforced: each non-null ``columns`` tuple occurs in ``referenced`` of ``table`` (``schema.table``)."""

    columns: tuple[str, ...]
    table: str
    referenced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A base table ``schema.table``: its columns as (name, Spark type) in order, and its declared keys.

    Keys are informational, as in Delta: a violated key must not make a view wrong.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()

    def __post_init__(self) -> None:
        names = [name.lower() for name, _ in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name} has duplicate columns")
        keys = [*self.primary_key, *(column for key in self.foreign_keys for column in key.columns)]
        unknown = [key for key in keys if key.lower() not in names]
        if unknown:
            raise ValueError(f"{self.name} has no column {', '.join(unknown)}, named in a key")
