"""Query → plan: names are looked up, subqueries become joins, and every operator of SQL one of the algebra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError, InvalidNameError
from ivm_core.plan.cte_names import is_shared
from ivm_core.plan.determinism import break_ties, check_determinism
from ivm_core.plan.from_sql_order import bind_limit, order_items, ordinal
from ivm_core.plan.from_sql_recursive import names_itself
from ivm_core.plan.from_sql_select import bind_select
from ivm_core.plan.from_sql_tables import bind_table, bind_values
from ivm_core.plan.names import DEFAULT_SCHEMA
from ivm_core.plan.naming import name_columns
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    Distinct,
    Named,
    Plan,
    Project,
    Scan,
    SetKind,
    SetOperation,
    UnionAll,
    column,
    walk,
)
from ivm_core.plan.prune import prune
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.scope import Context, Cte, Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.special_words import check_comparisons
from ivm_core.plan.statement import parse_queries, tokenize
from ivm_core.plan.types import common_type
from ivm_core.plan.types_plan import types_of


def from_sql(query: exp.Expr | str, tables: Mapping[str, TableSchema], default_schema: str = DEFAULT_SCHEMA) -> Plan:
    """The plan of a query over ``tables`` (``schema.table`` → schema). Its columns carry the query's visible names.

    Raises a DefinitionError, with the position where it is known, for what is wrong, unknown, or cannot be kept.
    """
    if isinstance(query, str):
        trees = parse_queries(tokenize(query), query)
        if len(trees) != 1:
            raise DefinitionError("Expected exactly one query.", construct="statement")
        query = trees[0]
    check_determinism(query)
    context = Context(tables, default_schema, bind_query)
    relation = bind_query(query, Scope(context, {}))
    if relation.correlated or relation.values:
        raise refusal("an outer reference", relation.correlated[0] if relation.correlated else query)
    _check_labels(relation.fields, query)
    scanned = {item.name for node in walk(relation.plan) if isinstance(node, Scan) for item in node.columns}
    for f in relation.fields:
        if f.name not in scanned:  # computed: best called as users see it
            context.hints[f.name] = (f.label, "")
    inner = prune(relation.plan, frozenset(f.name for f in relation.fields))
    check_comparisons(inner, query)
    inner, names = name_columns(break_ties(inner, context), context.hints)
    return Project(inner, tuple(Named(f.label, column(names[f.name])) for f in relation.fields))


def bind_query(query: exp.Expr, scope: Scope) -> Relation:
    """A query or a part of one: SELECT, set operation, VALUES, TABLE, in parentheses or not, with its CTEs."""
    scope = _with_ctes(query, replace(scope, fields=(), aliases={}, clock=None))
    match query:
        case exp.Subquery(this=inner):
            joined = isinstance(inner, exp.Subquery) and (inner.args.get("joins") or inner.args.get("pivots"))
            is_query = isinstance(inner, exp.Query) and not joined
            return _ordered(bind_query(inner, scope) if is_query else bind_table(inner, scope), query, scope)
        case exp.Select():
            return bind_select(query, scope)
        case exp.SetOperation():
            return _ordered(_set_operation(query, scope), query, scope)
        case exp.Values():
            return _ordered(bind_values(query, scope), query, scope)
        case exp.Table():
            return bind_table(query, scope)
        case _:
            raise refusal(query.key.upper(), query)


def _with_ctes(query: exp.Expr, scope: Scope) -> Scope:
    clause = query.args.get("with_")
    if clause is None:
        return scope
    for item in clause.expressions:
        alias = item.args["alias"]
        labels = tuple(part.name for part in alias.args.get("columns") or [])
        recursive = bool(clause.args.get("recursive")) and names_itself(item)
        cte = Cte(item.this, labels, replace(scope, outer=None), recursive, is_shared(item, query))
        scope = replace(scope, ctes={**scope.ctes, alias.name.lower(): cte})
    return scope


def _set_operation(node: exp.SetOperation, scope: Scope) -> Relation:
    """UNION, INTERSECT, EXCEPT, with and without ALL; both sides are brought under the left side's labels."""
    left, right = bind_query(node.left, scope), bind_query(node.right, scope)
    if left.correlated or right.correlated or left.values or right.values:
        raise refusal("a set operation in a correlated subquery", node)
    labels = [f.label for f in left.fields]
    others = {f.label.lower(): f for f in right.fields}
    if node.args.get("by_name"):
        if set(others) != {label.lower() for label in labels}:
            raise complaint(DefinitionError, "UNION BY NAME needs the same columns on both sides.", node, "UNION")
        right = replace(right, fields=tuple(others[label.lower()] for label in labels))
    if len(left.fields) != len(right.fields):
        message = f"{node.key.upper()} has {len(left.fields)} columns on its left and {len(right.fields)} on its right."
        raise complaint(DefinitionError, message, node, node.key.upper())
    names = [scope.context.fresh(f.label, scope.context.hints[f.name][1]) for f in left.fields]
    one, other = _under_common_types(left, right, names)
    distinct = bool(node.args.get("distinct"))
    match node:
        case exp.Union():
            plan: Plan = Distinct(UnionAll((one, other))) if distinct else UnionAll((one, other))
        case exp.Intersect():
            plan = SetOperation(one, other, SetKind.INTERSECT, all=not distinct)
        case exp.Except():
            plan = SetOperation(one, other, SetKind.EXCEPT, all=not distinct)
        case _:
            raise refusal(node.key.upper(), node)
    return Relation(plan, tuple(Field(label, name) for label, name in zip(labels, names, strict=True)))


def _under_common_types(left: Relation, right: Relation, names: Sequence[str]) -> tuple[Plan, Plan]:
    """Both sides under the same names, and cast where Spark would: a rewriting that drops one side keeps the other's type.

    Where a type is not certain here, the cast is left to Spark.
    """
    own, others = ([types_of(side.plan)[field.name] for field in side.fields] for side in (left, right))
    common = [common_type(one, other) for one, other in zip(own, others, strict=True)]
    return _cast(left, own, common, names), _cast(right, others, common, names)


def _cast(side: Relation, types: Sequence[str | None], wanted: Sequence[str | None], names: Sequence[str]) -> Project:
    """The side's fields under other names, each of the wanted type where that is known and another."""
    columns = (
        column(field.name) if wider in (None, type_) else exp.cast(column(field.name), wider, dialect="spark")
        for field, type_, wider in zip(side.fields, types, wanted, strict=True)
    )
    return Project(side.plan, tuple(Named(name, made) for name, made in zip(names, columns, strict=True)))


def _ordered(relation: Relation, query: exp.Expr, scope: Scope) -> Relation:
    """ORDER BY with LIMIT over something that is not a SELECT: only output columns can be named."""
    scope = replace(scope, fields=relation.fields)
    order = []
    for item in order_items(query, len(relation.fields)):
        bound = resolve(item, scope)
        place = ordinal(bound.this, len(relation.fields), "ORDER BY")
        if place is not None:
            bound.set("this", column(relation.fields[place].name))
        if bound.find(exp.Placeholder):
            raise refusal("a subquery in ORDER BY", item)
        order.append(bound)
    return bind_limit(relation, query, order, scope)


def _check_labels(fields: tuple[Field, ...], query: exp.Expr) -> None:
    seen: set[str] = set()
    for position, f in enumerate(fields, start=1):
        if not f.label:
            raise complaint(DefinitionError, f"Give column {position} an alias: … AS name.", query, "alias")
        if f.label.lower().startswith(HIDDEN_PREFIX):
            raise complaint(
                InvalidNameError, f"{f.label!r}: the prefix {HIDDEN_PREFIX} is kept for hidden columns.", query
            )
        if f.label.lower() in seen:
            message = f"Two columns are called {f.label!r}; give column {position} another alias."
            raise complaint(DefinitionError, message, query, "alias")
        seen.add(f.label.lower())
