"""Tables and views in the Spark session's catalogue: resolve, register, create and drop them by name."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from pyspark.errors import AnalysisException
from sqlglot import exp

from ivm_core.engine.bindings import tables_of
from ivm_core.engine.location import local_path, normalize_location
from ivm_core.engine.log import TableLog
from ivm_core.engine.log_by_spark import delta_path
from ivm_core.engine.model import LENGTH, STATE_TABLE
from ivm_core.errors import BaseTableError, DefinitionError, UnknownTableError
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.types import char_length

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

    from ivm_core.plan.definition_table import TableDefinition

STATE_PREFIX = "__ivm_state_"


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A Delta table as the session knows it; ``columns``: name and Spark type, CHAR(n) among them; ``properties`` sorted."""

    name: str
    location: str
    table_id: str
    columns: tuple[tuple[str, str], ...]
    properties: tuple[tuple[str, str], ...]


def describe_table(spark: SparkSession, name: str) -> TableInfo:
    """Resolve ``schema.table``. Raises ``UnknownTableError`` (missing) or ``BaseTableError`` (not Delta)."""
    table = table_name(name)
    if not table_exists(spark, name):
        raise UnknownTableError(f"There is no table {name} in the Spark session.", construct=name)
    detail = _detail(spark, table)
    kind = detail.get("provider", detail.get("type", "unknown")).lower()
    if kind != "delta" or "location" not in detail:
        raise BaseTableError(
            f"{name} is stored as {kind}, not as a Delta table: its changes cannot be read. Views are kept over Delta "
            "tables only. CONVERT TO DELTA, or copy it with CREATE TABLE … USING DELTA AS SELECT."
        )
    log = TableLog(detail["location"], spark)
    return TableInfo(
        name=name.lower(),
        location=log.location,
        table_id=log.table_id(),
        columns=tuple((field.name, _type_of(field)) for field in spark.table(table.sql("spark")).schema),
        properties=tuple(sorted(log.properties().items())),
    )


def _type_of(field: StructField) -> str:
    """The type of a column; Spark's schemas tell of a CHAR in metadata, beside a STRING."""
    written = str((field.metadata or {}).get(LENGTH, ""))
    return written if char_length(written) is not None else str(field.dataType.simpleString())


def _detail(spark: SparkSession, table: exp.Table) -> dict[str, str]:
    """What the session's catalogue says of a table, names in lower case. DESCRIBE DETAIL takes a second: it counts files."""
    described = spark.sql(exp.Describe(this=table, style="EXTENDED").sql("spark")).collect()
    rows = [(row[0], row[1]) for row in described]
    heading = next((place for place, (name, _) in enumerate(rows) if name == "# Detailed Table Information"), len(rows))
    return {name.lower(): value for name, value in rows[heading + 1 :]}


def table_exists(spark: SparkSession, name: str) -> bool:
    """True where the session knows a table or view of that name, and finds it."""
    try:
        return bool(spark.catalog.tableExists(table_name(name).sql("spark")))
    except AnalysisException:  # a Delta table whose files are gone
        return False


def is_view(spark: SparkSession, name: str) -> bool:
    """True where what the session knows by that name is a view: another of its name can take its place."""
    return bool(spark.catalog.getTable(table_name(name).sql("spark")).tableType == "VIEW")


def select_as_written(spark: SparkSession, text: str) -> DataFrame:
    """The result of a query, in Spark's own reading of the text. Raises ``DefinitionError`` where that is no query.

    Spark may read a text otherwise than sqlglot does: to it a backslash at the end of a ``--`` comment makes the next line
    part of the comment. What looked like a SELECT could then be an INSERT, which ``spark.sql`` runs at once.
    """
    try:
        # Takes nothing but a query, whatever the text holds, and runs nothing of it.
        spark.sql(exp.Command(this="DESCRIBE", expression=f"QUERY {text}").sql("spark"))
        return spark.sql(text)
    except AnalysisException as error:  # a ParseException is one too
        said, _, _ = str(error).strip().partition(" SQLSTATE:")
        raise DefinitionError(f"Spark does not accept the query: {said.splitlines()[0]}") from error


def analyse(spark: SparkSession, query: str) -> tuple[tuple[str, str], ...]:
    """Names and types of a query's columns by Spark's own analysis; nothing is run. Raises ``DefinitionError``."""
    return tuple((field.name, field.dataType.simpleString()) for field in select_as_written(spark, query).schema)


def register_table(spark: SparkSession, name: str, location: str) -> None:
    """Make a Delta table at a location known under a name, where the session does not know the name yet.

    Where no Delta table is there, the name stays unknown: Spark would write an empty one, in place of what may come back.
    """
    if table_exists(spark, name) or not TableLog.exists(location, spark):
        return
    create_schema(spark, name)
    properties = [
        exp.FileFormatProperty(this=exp.Var(this="DELTA")),
        exp.LocationProperty(this=exp.Literal.string(location)),
    ]
    _run(
        spark,
        exp.Create(this=table_name(name), kind="TABLE", exists=True, properties=exp.Properties(expressions=properties)),
    )


def put_table(spark: SparkSession, name: str, location: str) -> None:
    """Make a Delta table at a location known under a name, be that the name of a table at another place until now.

    Raises BaseTableError where there is no such table, or where the name's table would be lost with its name.
    """
    known = named_places(spark, [name]).get(name.lower())
    if known is not None and known.location != normalize_location(location):
        if not TableLog.exists(location, spark):
            raise BaseTableError(f"There is no Delta table at {location}. {name} stays the one at {known.location}.")
        if known.is_managed:
            raise BaseTableError(
                f"{name} is a managed table at {known.location}: to give its name to {location} would delete it. Drop it "
                "first, or choose another name."
            )
        _forget_table(spark, name)
    register_table(spark, name, location)


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """Where the table of a name lies; dropped with its name where the session manages it."""

    location: str
    is_managed: bool


def named_places(spark: SparkSession, names: Iterable[str]) -> dict[str, NamedPlace]:
    """Where the session knows Delta tables of these names; no table is opened for it."""
    wanted: dict[str, set[str]] = {}
    for name in names:
        table = table_name(name.lower())
        wanted.setdefault(table.db, set()).add(table.name)
    found: dict[str, NamedPlace] = {}
    for schema, tables in wanted.items():
        place = exp.to_identifier(schema, quoted=True).sql("spark")
        pattern = exp.Literal.string("|".join(sorted(tables))).sql("spark")
        shown = exp.Command(this="SHOW", expression=f"TABLE EXTENDED IN {place} LIKE {pattern}")
        try:
            rows = spark.sql(shown.sql("spark")).collect()
        except AnalysisException:  # there is no such schema
            continue
        for row in rows:
            told = dict(line.partition(": ")[::2] for line in reversed(row["information"].splitlines()))
            if (
                row["tableName"].lower() in tables
                and told.get("Provider", "").lower() == "delta"
                and "Location" in told
            ):
                location = normalize_location(told["Location"])
                found[f"{schema}.{row['tableName'].lower()}"] = NamedPlace(location, told.get("Type") == "MANAGED")
    return found


def _forget_table(spark: SparkSession, name: str) -> None:
    """Let the session know the name no more; the files of a table with a location of its own stay."""
    _run(spark, exp.Drop(tables=[table_name(name)], kind="TABLE", exists=True))


def create_table(spark: SparkSession, table: TableDefinition, location: str) -> None:
    """Run a project's CREATE TABLE, the data going to ``location`` unless the statement names a place itself."""
    create_schema(spark, table.name)
    statement = sqlglot.parse_one(table.sql, read=SparkAsWritten)
    assert isinstance(statement, exp.Create)
    properties = statement.args.get("properties") or exp.Properties(expressions=[])
    if not any(isinstance(item, exp.LocationProperty) for item in properties.expressions):
        properties.append("expressions", exp.LocationProperty(this=exp.Literal.string(location)))
    statement.set("properties", properties)
    statement.set("exists", True)
    _run(spark, statement)


def create_schema(spark: SparkSession, name: str) -> None:
    """Make the schema of ``schema.table`` exist."""
    schema = exp.Table(db=exp.to_identifier(name.rpartition(".")[0] or "default", quoted=True))
    _run(spark, exp.Create(this=schema, kind="SCHEMA", exists=True))


def register_view(spark: SparkSession, name: str, location: str, visible_sql: str, comment: str = "") -> None:
    """Show a view under its name: the visible SELECT over the state table, which gets a hidden name beside it."""
    hidden = state_name(name)
    known = named_places(spark, [hidden]).get(hidden)
    if known is not None and known.location != normalize_location(location):
        _forget_table(spark, hidden)  # of a view that had the name before
    register_table(spark, hidden, location)
    select = _over(visible_sql, table_name(hidden))
    properties = (
        exp.Properties(expressions=[exp.SchemaCommentProperty(this=exp.Literal.string(comment))]) if comment else None
    )
    _run(spark, exp.Create(this=table_name(name), kind="VIEW", replace=True, expression=select, properties=properties))


def rows_at(spark: SparkSession, location: str, version: int, visible_sql: str) -> DataFrame:
    """The rows that a view showed when its table at the location was at the version."""
    stored = delta_path(location)
    stored.set("version", exp.Version(this="VERSION", kind="AS OF", expression=exp.Literal.number(version)))
    return spark.sql(_over(visible_sql, stored).sql("spark"))


def _over(visible_sql: str, stored: exp.Table) -> exp.Expr:
    """The visible SELECT over this table."""
    select = sqlglot.parse_one(visible_sql, read=SparkAsWritten)
    for table in tables_of(select):
        if table.name == STATE_TABLE and not table.args.get("db"):
            if not table.alias:
                table.set("alias", exp.TableAlias(this=table.this.copy()))
            for part, value in stored.args.items():
                table.set(part, value.copy() if isinstance(value, exp.Expr) else value)
    return select


def drop_state(spark: SparkSession, name: str, location: str) -> None:
    """Remove a view, the name of its state table, and the state itself."""
    _run(spark, exp.Drop(tables=[table_name(name)], kind="VIEW", exists=True))
    _forget_table(spark, state_name(name))
    remove_table(spark, location)


def remove_table(spark: SparkSession, location: str) -> None:
    """Remove a Delta table's files where this process can, otherwise its rows: VACUUM frees the rest."""
    path = local_path(location)
    if path is not None:
        shutil.rmtree(path, ignore_errors=True)
    elif TableLog.exists(location, spark):
        _run(spark, exp.Delete(this=delta_path(location)))


def state_name(view: str) -> str:
    """The name of a view's state table in the session: ``gold.sales`` → ``gold.__ivm_state_sales``."""
    schema, _, name = view.rpartition(".")
    return f"{schema or 'default'}.{STATE_PREFIX}{name}"


def table_name(name: str) -> exp.Table:
    """``schema.table`` as quoted identifiers; the schema ends at the first dot."""
    schema, dot, table = name.partition(".")
    if not dot:
        schema, table = "default", name
    return exp.Table(this=exp.to_identifier(table, quoted=True), db=exp.to_identifier(schema, quoted=True))


def _run(spark: SparkSession, statement: exp.Expr) -> None:
    spark.sql(statement.sql("spark")).collect()
