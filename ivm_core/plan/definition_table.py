"""The CREATE TABLE statement of a base table: columns, types and declared keys."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import TokenType

from ivm_core.errors import DefinitionError
from ivm_core.plan.names import parse_name
from ivm_core.plan.schema import ForeignKey, TableSchema
from ivm_core.plan.statement import Cursor, parse_queries, position, tokenize
from ivm_core.plan.types import simple_string

KNOWN_PROPERTIES = ("ivm.primary_key", "ivm.foreign_keys")


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A parsed base table. ``sql`` is the statement as written, which Spark can run unchanged."""

    schema: TableSchema
    sql: str
    not_null: tuple[str, ...] = ()
    comment: str = ""
    cluster_by: tuple[str, ...] = ()
    partitioned_by: tuple[str, ...] = ()
    properties: tuple[tuple[str, str], ...] = ()
    if_not_exists: bool = False

    @property
    def name(self) -> str:
        """``schema.table`` in lower case."""
        return self.schema.name


def parse_table(sql: str) -> TableDefinition:
    """Read ``CREATE TABLE [IF NOT EXISTS] name (column type [NOT NULL], …) USING DELTA [clauses]``.

    ``ivm.primary_key`` = ``'a, b'``; ``ivm.foreign_keys`` = ``'a, b -> other(c, d); e -> third(f)'``.
    Raises DefinitionError with the position in ``sql``.
    """
    tokens = tokenize(sql)
    cursor = Cursor(sql, tokens)
    cursor.expect("CREATE", "TABLE")
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = parse_name(cursor, "table")
    trees = parse_queries(tokens, sql)
    if len(trees) != 1:
        line, column = position(trees[1])
        raise DefinitionError("A table file holds exactly one statement.", line=line, column=column)
    tree = trees[0]
    if not (isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema)) or tree.expression is not None:
        cursor.fail("A table is defined by CREATE TABLE with a list of columns", "CREATE TABLE")
    columns = [item for item in tree.this.expressions if isinstance(item, exp.ColumnDef)]
    clauses = tree.args.get("properties")
    properties = _properties(clauses)
    _check_format(cursor, clauses)
    for key in properties:
        if key.startswith("ivm.") and key not in KNOWN_PROPERTIES:
            cursor.fail(f"Unknown property {key!r}; known are {', '.join(KNOWN_PROPERTIES)}", "TBLPROPERTIES")
    try:
        schema = TableSchema(
            name,
            tuple((item.name, _type(cursor, item)) for item in columns),
            tuple(_split(properties.get("ivm.primary_key", ""))),
            parse_foreign_keys(properties.get("ivm.foreign_keys", "")),
        )
    except ValueError as error:
        raise DefinitionError(f"{error}.", construct="TBLPROPERTIES") from error
    return TableDefinition(
        schema,
        sql,
        not_null=tuple(item.name for item in columns if item.find(exp.NotNullColumnConstraint)),
        comment=next((item.name for item in _all(clauses, exp.SchemaCommentProperty)), ""),
        cluster_by=tuple(part.name for item in _all(clauses, exp.ClusterProperty) for part in item.expressions),
        partitioned_by=tuple(
            part.name for item in _all(clauses, exp.PartitionedByProperty) for part in item.this.expressions
        ),
        properties=tuple(properties.items()),
        if_not_exists=if_not_exists,
    )


def parse_foreign_keys(text: str) -> tuple[ForeignKey, ...]:
    """``a, b -> other(c, d); e -> third(f)``; the referenced columns must be written.

    >>> parse_foreign_keys("a -> s.other(c)")
    (ForeignKey(columns=('a',), table='s.other', referenced=('c',)),)
    """
    cursor = Cursor(text, Spark().tokenize(text))
    keys: list[ForeignKey] = []
    while cursor.token is not None:
        columns = _names(cursor)
        cursor.expect("->")
        table = parse_name(cursor, "table")
        cursor.expect("(")
        referenced = _names(cursor)
        cursor.expect(")")
        if len(columns) != len(referenced):
            cursor.fail(f"ivm.foreign_keys refers from {len(columns)} to {len(referenced)} columns", "ivm.foreign_keys")
        keys.append(ForeignKey(columns, table, referenced))
        if cursor.token is not None and cursor.token.token_type != TokenType.SEMICOLON:
            cursor.expect(";")
        else:
            cursor.index += 1
    return tuple(keys)


def _names(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name("a column name")]
    while cursor.accept(","):
        names.append(cursor.name("a column name"))
    return tuple(names)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _type(cursor: Cursor, item: exp.ColumnDef) -> str:
    if not isinstance(item.kind, exp.DataType):
        cursor.fail(f"Column {item.name!r} has no type", "CREATE TABLE")
    return simple_string(item.kind)


def _all(clauses: exp.Expr | None, kind: type[exp.Expr]) -> list[exp.Expr]:
    return [item for item in clauses.expressions if isinstance(item, kind)] if clauses is not None else []


def _properties(clauses: exp.Expr | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in _all(clauses, exp.Property):
        if type(item) is exp.Property:
            found[item.this.name if isinstance(item.this, exp.Expression) else str(item.this)] = item.args["value"].name
    return found


def _check_format(cursor: Cursor, clauses: exp.Expr | None) -> None:
    formats = [item.this.name.lower() for item in _all(clauses, exp.FileFormatProperty)]
    if formats != ["delta"]:
        cursor.fail("A base table must be USING DELTA, because its changes are read from Delta's log", "USING")
