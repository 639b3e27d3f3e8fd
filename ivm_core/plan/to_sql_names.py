"""Identifiers: quoted only where they must be, and never the same twice where they must differ."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

Node = TypeVar("Node", bound=exp.Expr)

# Words that Spark or DuckDB does not take as a bare column, alias or table name.
_RESERVED = """
    all analyse analyze and anti any array as asc asymmetric both case cast check collate column constraint create
    cross current_catalog current_date current_role current_schema current_time current_timestamp current_user
    default deferrable desc describe distinct div do else end escape except exists false fetch filter for foreign
    from full glob grant group having ilike in initially inner intersect interval into is isnull join lambda lateral
    leading left like limit localtime localtimestamp map minus natural not notnull null offset on only or order outer
    overlaps pivot pivot_longer pivot_wider placing positional primary qualify references regexp returning right
    rlike row rows select semi session_user set setminus show similar some struct summarize symmetric table
    tablesample then to trailing true union unique unnest unpivot user using values variadic when where window
    with within
"""
RESERVED = frozenset(_RESERVED.split())


@lru_cache(maxsize=4096)
def is_plain(name: str) -> bool:
    """Whether the name survives as a bare identifier in Spark and in DuckDB."""
    if not (name.isascii() and name.isidentifier()) or name.lower() in RESERVED:
        return False
    try:
        parsed = parse_one(name, dialect="spark")
    except SqlglotError:
        return False
    return isinstance(parsed, exp.Column) and parsed.name == name and not parsed.this.quoted


def quote_where_needed(tree: Node) -> Node:
    """Change the tree in place, so that exactly the identifiers that need quotes have them; returns the tree."""
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("quoted", not is_plain(identifier.name))
    return tree


def unused(name: str, taken: set[str]) -> str:
    """The name, numbered from 2 where it is taken without regard to case; the result is then taken as well."""
    candidate, number = name, 1
    while candidate.lower() in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate.lower())
    return candidate
