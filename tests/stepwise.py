"""A plan run in DuckDB one operator at a time, each into a table of its own: SQL too simple to be merged wrongly."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

import duckdb
from sqlglot import exp

from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
    keep,
    sources,
)
from tests.plans import TABLES, Row, Table

PADDING = "no columns"  # DuckDB has no table without columns


def open_database() -> duckdb.DuckDBPyConnection:
    """A database with the empty tables of ``tests.plans``."""
    connection = duckdb.connect()
    for table in TABLES:
        schema = exp.to_identifier(table.name.partition(".")[0], quoted=True)
        connection.execute(exp.Create(this=schema, kind="SCHEMA", exists=True).sql("duckdb"))
        columns = [_column_definition(name, kind) for name, kind in table.columns]
        connection.execute(
            exp.Create(this=exp.Schema(this=_table(table.name), expressions=columns), kind="TABLE").sql("duckdb")
        )
    return connection


def fill(
    connection: duckdb.DuckDBPyConnection, contents: dict[str, list[Row]], tables: tuple[Table, ...] = TABLES
) -> None:
    """Replace the contents of all tables."""
    for table in tables:
        connection.execute(exp.delete(_table(table.name)).sql("duckdb"))
        rows = [tuple(exp.convert(cell) for cell in row) for row in contents[table.name]]
        if rows:
            connection.execute(exp.insert(exp.values(rows), _table(table.name)).sql("duckdb"))


def run_stepwise(connection: duckdb.DuckDBPyConnection, plan: Plan) -> Counter[Row]:
    """The bag of the plan's rows."""
    return Counter(
        connection.execute(exp.select(*_names(plan)).from_(_materialize(connection, plan)).sql("duckdb")).fetchall()
    )


def _materialize(connection: duckdb.DuckDBPyConnection, plan: Plan) -> exp.Table:
    inputs = [_materialize(connection, source) for source in sources(plan)]
    result = exp.to_table(f"step_{id(plan)}")
    create = exp.Create(this=result, kind="TABLE", replace=True, expression=_step(plan, inputs))
    create.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
    connection.execute(create.sql("duckdb"))
    return result


def _step(plan: Plan, inputs: list[exp.Table]) -> exp.Query:
    match plan:
        case Scan(table, columns):
            read = [exp.alias_(_column(column.source), _quoted(column.name)) for column in columns]
            return exp.select(*(read or _padding())).from_(_table(table))
        case Changes():
            raise NotImplementedError("there are no batches here")
        case Values(names, types, rows):
            empty = [exp.cast(exp.null(), kind, dialect="spark") for kind in types]
            query: exp.Query = exp.select(*_aliased(names, empty)).where(exp.false())
            for row in rows:
                query = exp.union(query, exp.select(*_aliased(names, row)), distinct=False)
            return query
        case Project(_, columns):
            return exp.select(*_outputs(columns)).from_(inputs[0])
        case Filter(_, condition):
            return exp.select("*").from_(inputs[0]).where(condition)
        case Join(_, _, kind, condition):
            on = exp.true() if condition is None else condition
            if kind in (JoinKind.SEMI, JoinKind.ANTI):
                exists = exp.Exists(this=exp.select("1").from_(inputs[1]).where(on))
                return exp.select("*").from_(inputs[0]).where(exists if kind is JoinKind.SEMI else exp.not_(exists))
            join = exp.Join(this=inputs[1], side="" if kind is JoinKind.INNER else kind.value, on=on)
            return exp.select(*_names(plan)).from_(inputs[0]).join(join)
        case UnionAll():
            queries = [exp.select("*").from_(table) for table in inputs]
            return exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
        case Aggregate(source, keys, aggregates):
            # Keys are computed first, so that GROUP BY has names of columns only.
            grouped = [Named(f"key {index}", key.expression) for index, key in enumerate(keys)]
            below = exp.select(*_outputs((*keep(source.names), *grouped))).from_(inputs[0]).subquery("below")
            outputs = [Named(key.name, _column(group.name)) for key, group in zip(keys, grouped, strict=True)]
            query = exp.select(*_outputs((*outputs, *aggregates))).from_(below)
            return query.group_by(*(_column(group.name) for group in grouped)) if keys else query
        case Distinct():
            return exp.select("*").from_(inputs[0]).distinct()
        case Window(_, functions):
            return exp.select("*", *_outputs(functions)).from_(inputs[0])
        case SetOperation(_, _, kind, all_):
            operator = exp.except_ if kind.value == "except" else exp.intersect
            return operator(*(exp.select("*").from_(table) for table in inputs), distinct=not all_)
        case Generate(source, generator, outputs, outer):
            # A NULL or empty array becomes an array of one NULL where its row is kept.
            array, none = generator.this, exp.Array(expressions=[exp.cast(exp.null(), "bigint")])
            full = exp.GT(
                this=exp.func("ARRAY_LENGTH", array.copy(), dialect="duckdb"), expression=exp.Literal.number(0)
            )
            kept = exp.Case().when(full, array.copy()).else_(none) if outer else array
            unnest = exp.alias_(exp.Explode(this=kept), _quoted(outputs[0]))
            return exp.select(*_outputs(keep(source.names)), unnest).from_(inputs[0])
        case Limit(_, order, count, offset):
            query = exp.select("*").from_(inputs[0]).order_by(*order).offset(offset)
            return query if count is None else query.limit(count)
        case _:
            assert_never(plan)


def _outputs(columns: tuple[Named, ...] | list[Named]) -> list[exp.Expr]:
    return [exp.alias_(column.expression, _quoted(column.name)) for column in columns] or _padding()


def _names(plan: Plan) -> list[exp.Expr]:
    return [_column(name) for name in plan.names] or _padding()


def _aliased(names: tuple[str, ...], values: list[exp.Expr] | tuple[exp.Expr, ...]) -> list[exp.Expr]:
    return [exp.alias_(value, _quoted(name)) for name, value in zip(names, values, strict=True)] or _padding()


def _padding() -> list[exp.Expr]:
    return [exp.alias_(exp.Literal.number(1), _quoted(PADDING))]


def _column(name: str) -> exp.Column:
    return exp.column(_quoted(name))


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _table(name: str) -> exp.Table:
    schema, _, table = name.partition(".")
    return exp.Table(this=_quoted(table), db=_quoted(schema))


def _column_definition(name: str, kind: str) -> exp.ColumnDef:
    return exp.ColumnDef(this=_quoted(name), kind=exp.DataType.build(kind, dialect="spark"))
