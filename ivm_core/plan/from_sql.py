"""Query → plan: names are looked up, subqueries become joins, and every operator of SQL one of the algebra."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError, InvalidNameError
from ivm_core.plan.correlation import with_own_rows
from ivm_core.plan.cte_names import is_shared
from ivm_core.plan.determinism import break_ties, check_determinism
from ivm_core.plan.from_sql_order import bind_limit, order_items, ordinal
from ivm_core.plan.from_sql_recursive import names_itself
from ivm_core.plan.from_sql_select import bind_select
from ivm_core.plan.from_sql_sets import bind_set_operation
from ivm_core.plan.from_sql_tables import bind_table, bind_values
from ivm_core.plan.names import DEFAULT_SCHEMA
from ivm_core.plan.naming import name_columns
from ivm_core.plan.nodes import (
    HIDDEN_PREFIX,
    Named,
    Plan,
    Project,
    Scan,
    column,
    walk,
)
from ivm_core.plan.prune import prune
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.scope import Context, Cte, Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.special_words import check_comparisons
from ivm_core.plan.statement import parse_queries, tokenize


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
            return _ordered(bind_set_operation(query, scope), query, scope)
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
        cte = Cte(item.this, labels, scope, recursive, is_shared(item, query))
        scope = replace(scope, ctes={**scope.ctes, alias.name.lower(): cte})
    return scope


def _ordered(relation: Relation, query: exp.Expr, scope: Scope) -> Relation:
    """ORDER BY with LIMIT over something that is not a SELECT: only output columns can be named."""
    if query.args.get("limit") or query.args.get("offset"):
        relation = with_own_rows(relation, scope)
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
