"""A definition compiled over the tables that the session knows, and checked against Spark's own analysis."""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from ivm_core.cost.model import Reason
from ivm_core.engine.functions import check_functions
from ivm_core.engine.tables import analyse, describe_table
from ivm_core.errors import DefinitionError, NoRule, NotIncrementalError, UnknownColumnError, UnknownTableError
from ivm_core.job.compile import CompiledView, compile_view
from ivm_core.job.strategy import strategy_of
from ivm_core.maintain.keys import schema_of
from ivm_core.maintain.places import is_old, record_table, table_record
from ivm_core.maintain.session import Session
from ivm_core.plan.clock import CLOCK, TYPES, spell_for_spark
from ivm_core.plan.definition import Policy, ViewDefinition
from ivm_core.plan.nodes import Plan, Scan, Values
from ivm_core.plan.rewrite import transform_up
from ivm_core.plan.schema import TableSchema, types_of
from ivm_core.plan.table_names import tables_of
from ivm_core.plan.to_sql import to_sql

Columns = tuple[tuple[str, str], ...]  # name and Spark type
_OF_THE_FEED = ("_change_type", "_commit_version", "_commit_timestamp")


def check_view(session: Session, definition: ViewDefinition) -> tuple[CompiledView, Columns]:
    """Compile a definition and compare it with Spark's own analysis, without creating anything.

    Also returns the columns with their Spark types.
    """
    compiled = compile_checked(session, definition)
    if definition.auxiliary_of is not None and CLOCK in compiled.tables:
        raise DefinitionError(
            f"{definition.name}: a MATERIALIZED CTE cannot read the time. Leave now() and its like to the query that reads it.",
            construct="MATERIALIZED",
        )
    # As written: sqlglot spells some functions otherwise, whose names then differ, and QUALIFY with a column more.
    text = definition.text or spell_for_spark(definition.query).sql(dialect="spark")
    analysed = analyse(session.spark_with_names, text)
    names = tuple(name for name, _ in analysed)
    if tuple(n.lower() for n in names) != tuple(n.lower() for n in compiled.columns):
        raise DefinitionError(
            f"{definition.name}: the compiled query has the columns {', '.join(compiled.columns)}, Spark's own analysis "
            f"gives {', '.join(names)}. Give every column an alias with AS."
        )
    _check_columns(definition.name, analysed)
    _check_types(definition.name, analysed, analyse(session.spark_with_names, to_sql(_at_no_time(compiled.plan))))
    if compiled.layout.stored != compiled.plan:
        stored = analyse(session.spark_with_names, to_sql(_at_no_time(compiled.layout.stored)))
        hidden = tuple(each for each in stored if each[0] not in compiled.columns)
        _check_columns(definition.name, hidden, "kept beside its rows")
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


def _at_no_time(plan: Plan) -> Plan:
    """The plan with a row of NULLs for the clock, which is no table that Spark could analyse."""

    def stop(node: Plan) -> Plan:
        if not (isinstance(node, Scan) and node.table == CLOCK):
            return node
        types = tuple(TYPES[column.source] for column in node.columns)
        return Values(node.names, types, (tuple(exp.null() for _ in types),))

    return transform_up(plan, stop)


def check_whole(session: Session, definition: ViewDefinition) -> None:
    """Check a definition with its MATERIALIZED CTEs in place, so that one that is wrong creates none of their views."""
    check_view(session, replace(definition, query=definition.whole, auxiliaries=(), policy=Policy.AUTO))


def _check_columns(view: str, columns: Columns, where: str = "") -> None:
    """Raise DefinitionError where a Delta table could not hold one of the columns, shown or kept beside them."""
    for name, type_ in columns:
        what = f"{name}, {where}," if where else name
        if "interval " in type_:
            raise DefinitionError(
                f"{view}: {what} is an {type_.upper()}, and Delta tables hold no intervals. CAST it to a STRING, or "
                "compute with it where the view is read."
            )
        if re.search(r"[<,:]void\b", type_):
            raise DefinitionError(
                f"{view}: {what} is an {type_.upper()}, and Delta tables hold no collections of NULLs without a type. CAST the "
                "NULL, or the empty collection, to the type that is meant."
            )
        if name.lower() in _OF_THE_FEED:
            raise DefinitionError(
                f"{view}: {name} is a column of Delta's change data feed, which the view has too. Give it another name with AS."
            )


def _check_types(view: str, written: Columns, compiled: Columns) -> None:
    """Raise DefinitionError where a column of the compiled query has another type than Spark gives the text as written."""
    for (name, wanted), (_, made) in zip(written, compiled, strict=True):
        if wanted != made:
            raise DefinitionError(
                f"{view}: the compiled query makes {name} a {made}, Spark's own analysis a {wanted}. Write the column "
                "otherwise, or CAST it."
            )


def check_together(session: Session, definition: ViewDefinition, below: dict[str, TableSchema | None]) -> None:
    """Compile a definition over the views ``below`` as they are to be, before any is touched, and add it to them.

    Raises UnknownColumnError. A view of which not all is known before it is there is None, and so are those above it.
    """
    names = tables_of(definition.query)
    schemas = {name: below[name] if name in below else resolve_table(session, name) for name in names}
    below[definition.name] = None
    known = {name: schema for name, schema in schemas.items() if schema is not None}
    if len(known) < len(schemas):
        return
    try:
        compiled = compile_view(definition.name, definition.query, known)
    except UnknownColumnError:
        raise
    except DefinitionError:
        return  # said when its turn comes
    if None not in types_of(compiled.plan).values():
        below[definition.name] = _schema_of(compiled)


def compile_checked(session: Session, definition: ViewDefinition, *, learn: bool = True) -> CompiledView:
    """Compile a definition over the tables and the functions that the session knows, and over its auxiliary views.

    ``learn``: the catalogue is brought up to date with the tables.
    """
    compiled: dict[str, CompiledView] = {}
    for view in (*definition.auxiliaries, definition):
        if view is not definition and is_registered(session, view):
            continue
        schemas = {
            name: _schema_of(compiled[name]) if name in compiled else resolve_table(session, name, learn=learn)
            for name in tables_of(view.query)
        }
        check_functions(session.spark_with_names, view.query)
        compiled[view.name] = compile_view(view.name, view.query, schemas)
    return compiled[definition.name]


def is_registered(session: Session, definition: ViewDefinition) -> bool:
    """Whether the catalogue has the view with this very statement."""
    known = session.catalog.find_view(definition.name)
    return known is not None and known.sql.strip() == definition.sql.strip()


def _schema_of(view: CompiledView) -> TableSchema:
    """What may be known of a view that need not be registered."""
    return TableSchema(view.name, tuple((name, type_ or "string") for name, type_ in types_of(view.plan).items()))


def resolve_table(session: Session, name: str, *, learn: bool = True) -> TableSchema:
    """The schema of a table named in a query, with ``learn`` registered on the way as the Spark session knows it."""
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
    found = (info.table_id, info.columns, info.location)
    if known is None or (
        found != (known.table_id, known.columns, known.location) and not is_old(known, info.location, info.table_id)
    ):
        if not learn:
            return schema_of(table_record(session, info))
        record_table(session, info)
    session.note_described(name)
    return session.schema(name)
