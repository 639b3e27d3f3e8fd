"""Names of views, tables and properties in CREATE statements: read, completed and checked."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokenizer_core import TokenType

from ivm_core.errors import InvalidNameError
from ivm_core.plan.nodes import HIDDEN_PREFIX
from ivm_core.plan.statement import Cursor

DEFAULT_SCHEMA = "default"
LONGEST_NAME = 128  # Hive metastores and object-store paths allow no more


def parse_name(cursor: Cursor, kind: str) -> str:
    """``schema.name`` or ``name``, in lower case with the schema filled in; raises InvalidNameError."""
    line, column = cursor.place()
    parts = [cursor.name(f"the {kind}'s name")]
    while cursor.accept("."):
        parts.append(cursor.name(f"the {kind}'s name"))
    if len(parts) == 3 and parts[0].lower() == "spark_catalog":
        parts = parts[1:]
    if len(parts) > 2:
        raise InvalidNameError(
            f"{'.'.join(parts)!r} has {len(parts)} parts; name a {kind} as schema.name.", line=line, column=column
        )
    for part in parts:
        problem = name_problem(part)
        if problem:
            raise InvalidNameError(f"{part!r} cannot name a {kind}: {problem}.", line=line, column=column)
    return ".".join((DEFAULT_SCHEMA, *parts)[-2:]).lower()


def qualified(name: str) -> str:
    """``v`` → ``default.v``, in lower case; every spelling that CREATE takes names the same view.

    >>> qualified("Sales"), qualified("`gold`.`Sales`"), qualified("spark_catalog.gold.sales")
    ('default.sales', 'gold.sales', 'gold.sales')
    """
    parts = [part.strip().strip("`") for part in name.lower().split(".")]
    if len(parts) == 3 and parts[0] == "spark_catalog":
        parts = parts[1:]
    return ".".join(parts if len(parts) > 1 else [DEFAULT_SCHEMA, *parts])


def qualify_all(names: Iterable[str]) -> tuple[str, ...]:
    """The names completed; a single name need not stand in a list: its letters are no names."""
    return tuple(qualified(name) for name in ([names] if isinstance(names, str) else names))


def name_problem(name: str) -> str:
    """Why one part of a name cannot be used, empty if it can: names become directory names and SQL identifiers."""
    if not name.strip():
        return "it is empty"
    if len(name) > LONGEST_NAME:
        return f"it is longer than {LONGEST_NAME} characters"
    if any(character in "/\\." for character in name) or any(
        ord(character) < 32 or ord(character) == 127 for character in name
    ):
        return "it holds a path separator, a dot or a control character"
    if not name.isascii() or not all(character.isalnum() or character == "_" for character in name):
        return "Spark's catalogue takes letters of the Latin alphabet, digits and _ only"
    if name.lower().startswith(HIDDEN_PREFIX):
        return f"the prefix {HIDDEN_PREFIX} is kept for hidden columns and tables"
    return ""


def parse_properties(cursor: Cursor) -> dict[str, str]:
    """``('key' = 'value', …)``; keys may be written without quotes."""
    cursor.expect("(")
    properties: dict[str, str] = {}
    while True:
        token = cursor.token
        if token is not None and token.token_type == TokenType.STRING:
            key = cursor.string("a property name")
        else:
            key = cursor.name("a property name")
            while cursor.accept("."):
                key = f"{key}.{cursor.name('a property name')}"
        if key in properties:
            cursor.fail(f"The property {key!r} is given twice", "TBLPROPERTIES")
        cursor.accept("=")
        token = cursor.token
        if token is not None and token.token_type == TokenType.STRING:
            properties[key] = cursor.string("a property value")
        else:
            properties[key] = cursor.advance().text
        if cursor.accept(")"):
            return properties
        cursor.expect(",")
