"""Create and drop views: definition → plan, checked against Spark's own analysis, built as batch 1."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

from sqlglot import exp

from ivm_core.apply.model import MaintenanceReport
from ivm_core.catalog.model import TableRecord, ViewRecord, ViewStatus
from ivm_core.cost.model import Reason
from ivm_core.engine.functions import check_functions
from ivm_core.engine.tables import analyse, describe_table, drop_state, register_table
from ivm_core.errors import (
    DefinitionError,
    InvalidNameError,
    NoRule,
    NotIncrementalError,
    UnknownTableError,
    ViewExistsError,
)
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.maintain.session import Session
from ivm_core.maintain.view import build
from ivm_core.plan.clock import CLOCK, spell_for_spark
from ivm_core.plan.definition import Policy, ViewDefinition, parse_definition
from ivm_core.plan.names import qualified
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.to_sql import to_sql

Columns = tuple[tuple[str, str], ...]  # name and Spark type


def create_view(session: Session, sql: str, run_id: str | None = None) -> ViewRecord:
    """Register a view and build it. The same definition again changes nothing; a killed creation is finished.

    Raises DefinitionError (and below) for what is wrong with the statement, ViewExistsError where the name is taken.
    """
    definition = parse_definition(sql)
    existing = session.catalog.find_view(definition.name)
    if existing is not None and existing.status != "creating":
        if existing.sql.strip() == sql.strip() or definition.if_not_exists:
            return existing
        raise ViewExistsError(
            f"The view {definition.name} exists with another definition. Drop it first, or change its file and run `ivm apply`."
        )
    check_free(session, definition.name)
    compiled, columns = check_view(session, definition)
    record = existing or ViewRecord(
        view_id=str(uuid.uuid4()),
        name=definition.name,
        sql=sql,
        group=definition.group,
        schedule=definition.schedule,
        policy=definition.policy,
        fingerprint=compiled.fingerprint,
        columns=(),
        tables=compiled.tables,
        location="",
        status=ViewStatus.CREATING,
        comment=definition.comment,
        properties=definition.properties,
        created_at=datetime.now(UTC),
    )
    if existing is None:
        record = replace(record, columns=columns, location=state_location(session, record))
        session.catalog.add_view(record)
    build(session, record, Reason.FIRST_BUILD, run_id)
    record = replace(record, status=ViewStatus.ACTIVE)
    session.catalog.update_view(record)
    session.show(record)
    return record


def check_free(session: Session, name: str) -> None:
    """Raise InvalidNameError where a base table has the name."""
    if session.catalog.table(name) is not None:
        raise InvalidNameError(f"{name} is the name of a base table. Choose another name.")


def check_view(session: Session, definition: ViewDefinition) -> tuple[CompiledView, Columns]:
    """Compile a definition and compare it with Spark's own analysis, without creating anything.

    Also returns the columns with their Spark types.
    """
    compiled = compile_checked(session, definition)
    analysed = analyse(session.spark_with_names, spell_for_spark(definition.query).sql(dialect="spark"))
    names = tuple(name for name, _ in analysed)
    if tuple(n.lower() for n in names) != tuple(n.lower() for n in compiled.columns):
        raise DefinitionError(
            f"{definition.name}: the compiled query has the columns {', '.join(compiled.columns)}, Spark's own analysis "
            f"gives {', '.join(names)}. Give every column an alias with AS."
        )
    if CLOCK not in compiled.tables:  # no table of that name could be analysed
        _check_types(definition.name, analysed, analyse(session.spark_with_names, to_sql(compiled.plan)))
    if definition.policy is Policy.INCREMENTAL_STRICT:
        try:
            strategy_of(compiled)
        except NoRule as error:
            raise NotIncrementalError(
                f"{definition.name} has the policy incremental_strict, but {error}. Change the query, or set "
                "ivm.refresh_policy to 'incremental' or 'auto'.",
                reason=Reason.UNSUPPORTED_OPERATOR,
            ) from None
    return compiled, tuple((name, type_) for name, (_, type_) in zip(compiled.columns, analysed, strict=True))


def _check_types(view: str, written: Columns, compiled: Columns) -> None:
    """Raise DefinitionError where a column of the compiled query has another type than Spark gives the text as written."""
    for (name, wanted), (_, made) in zip(written, compiled, strict=True):
        if wanted != made:
            raise DefinitionError(
                f"{view}: the compiled query makes {name} a {made}, Spark's own analysis a {wanted}. Write the column "
                "otherwise, or CAST it."
            )


def compile_checked(session: Session, definition: ViewDefinition) -> CompiledView:
    """Compile a definition over the tables and the functions that the session knows."""
    schemas = {name: resolve_table(session, name) for name in tables_of(definition.query)}
    check_functions(session.spark_with_names, definition.query)
    return compile_view(definition.name, definition.query, schemas)


# Spark reads `format`.`path` as a file, whatever the catalogue says.
FILE_FORMATS = frozenset({"avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text", "xml"})


def tables_of(query: exp.Expression) -> tuple[str, ...]:
    """The tables that a query names, CTEs aside, as ``schema.table`` in lower case. Raises InvalidNameError for a path."""
    names: set[str] = set()
    qualified: set[str] = set()
    for table in query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        if table.db.lower() in FILE_FORMATS or "/" in table.name:
            raise InvalidNameError(
                f"A view reads tables by name, not files: {table.db}.`{table.name}`. Register the table first.",
                construct=table.name,
            )
        names.add(f"{table.db or 'default'}.{table.name}".lower())
        if table.db:
            qualified.add(f"{table.db}.{table.name}".lower())
    ctes = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    return tuple(sorted(n for n in names if n in qualified or n.removeprefix("default.") not in ctes))


def resolve_table(session: Session, name: str) -> TableSchema:
    """The schema of a table named in a query, registered on the way where only the Spark session knew it."""
    if session.catalog.find_view(name) is not None or session.is_described(name):
        return session.schema(name)
    known = session.catalog.table(name)
    try:
        info = describe_table(session.spark_with_names, name)
    except UnknownTableError:
        close = ", ".join(sorted(t.name for t in session.catalog.tables())[:10])
        raise UnknownTableError(
            f"There is no table or view {name}." + (f" The catalogue knows {close}." if close else ""), construct=name
        ) from None
    if known is None or known.table_id != info.table_id or known.columns != info.columns:
        keys = (known.primary_key, known.foreign_keys) if known else ((), ())
        known = TableRecord(name, info.table_id, info.location, info.columns, *keys, properties=info.properties)
        session.catalog.upsert_table(known)
    session.note_described(name)
    return session.schema(name)


def register_base_table(
    session: Session,
    name: str,
    location: str | None = None,
    primary_key: tuple[str, ...] = (),
    foreign_keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (),
) -> TableRecord:
    """Tell the catalogue of a Delta table, with its declared keys. ``location``: where the session does not know it."""
    name = qualified(name)
    if location is not None:
        register_table(session.spark_with_names, name, location)
    info = describe_table(session.spark_with_names, name)
    record = TableRecord(
        name, info.table_id, info.location, info.columns, primary_key, foreign_keys, properties=info.properties
    )
    session.catalog.upsert_table(record)
    return record


def drop_view(session: Session, name: str) -> None:
    """Remove a view, its state and its history. Raises ViewExistsError while other views read it."""
    record = session.catalog.view(name)
    dependants = session.catalog.dependants(record.name)
    if dependants:
        raise ViewExistsError(f"{record.name} is read by {', '.join(dependants)}. Drop them first.")
    drop_state(session.spark, record.name, record.location)
    session.catalog.remove_view(record.name)
    session.forget(record.view_id)


def refresh_view(session: Session, name: str, run_id: str | None = None) -> MaintenanceReport:
    """Build a view anew from the newest versions."""
    return build(session, session.catalog.view(name), Reason.REQUESTED, run_id)


def state_location(session: Session, record: ViewRecord) -> str:
    """The folder of a view's state, below ``views``; the view's id makes it unique."""
    return f"{session.settings.warehouse.rstrip('/')}/views/{record.name.replace('.', '/')}-{record.view_id[:8]}"
