"""``WITH name AS MATERIALIZED (…)``: parts of a query that are kept as views of their own, taken out of it.

PostgreSQL's mark, where it asks for a CTE to be computed once for a query; here it is computed once for all batches. Each
marked CTE becomes a query, in which what it needs of the CTEs before it stands again; the rest of the query reads tables
in their place. NOT MATERIALIZED, which says what is done anyway, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.cte_names import cte_of
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.statement import position

SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Divided:
    """A query in which marked CTEs are tables, and their own queries by the names of these tables, in the order written.

    ``whole`` is the query with its CTEs in place, as Spark runs it.
    """

    query: exp.Expression
    parts: tuple[tuple[str, exp.Expression], ...]
    whole: exp.Expression


def divide(query: exp.Expression, view: str) -> Divided:
    """Take the marked CTEs out of a view's query. ``view``: its full name, with which the names of their tables begin.

    Raises DefinitionError where a mark is not in the query's own WITH, or that is recursive.
    """
    clause = query.args.get("with_")
    marked = [cte for cte in query.find_all(exp.CTE) if cte.args.get("materialized")]
    for cte in marked:
        if cte.parent is not clause:
            raise _misplaced(cte, "only a CTE in the WITH of the whole query can be MATERIALIZED")
        if isinstance(clause, exp.With) and clause.recursive:
            raise _misplaced(cte, "no CTE of WITH RECURSIVE can be MATERIALIZED")
    whole = expect_expression(query.copy())
    for cte in whole.find_all(exp.CTE):
        cte.set("materialized", None)
    if not marked:
        return Divided(whole, (), whole)
    tables = {cte.alias.lower(): f"{view}{SEPARATOR}{cte.alias.lower()}" for cte in marked}
    rest = _pointed(whole, tables)
    ctes: Sequence[exp.CTE] = rest.args["with_"].expressions
    parts = tuple(
        (tables[cte.alias.lower()], _query_of(cte, [c for c in ctes[:at] if c.alias.lower() not in tables]))
        for at, cte in enumerate(ctes)
        if cte.alias.lower() in tables
    )
    return Divided(_with(rest, [cte for cte in ctes if cte.alias.lower() not in tables]), parts, whole)


def _misplaced(cte: exp.CTE, what: str) -> DefinitionError:
    line, column = position(cte.args["alias"].this)
    return DefinitionError(f"{cte.alias}: {what}.", construct="MATERIALIZED", line=line, column=column)


def _query_of(cte: exp.CTE, before: Sequence[exp.CTE]) -> exp.Expression:
    """The query of one CTE by itself."""
    needed: list[exp.CTE] = []
    for other in reversed(before):
        if any(_reads(tree, other.alias) for tree in (cte, *needed)):
            needed.insert(0, other)
    body = expect_expression(cte.this)
    if not cte.alias_column_names and (not needed or body.args.get("with_") is None):
        return _with(body, needed) if needed else expect_expression(body.copy())
    return _with(exp.select("*").from_(exp.to_identifier(cte.alias)), [*needed, cte])


def _reads(tree: exp.Expr, name: str) -> bool:
    return any(not table.db and table.name.lower() == name.lower() for table in tree.find_all(exp.Table))


def _with(query: exp.Expression, ctes: Sequence[exp.CTE]) -> exp.Expression:
    """A copy of the query with these CTEs and no others."""
    copy = expect_expression(query.copy())
    copy.set("with_", exp.With(expressions=[cte.copy() for cte in ctes]) if ctes else None)
    return copy


def _pointed(query: exp.Expression, tables: Mapping[str, str]) -> exp.Expression:
    """A copy of the query in which tables stand for the names of CTEs of its own WITH, called as they were."""
    copy = expect_expression(query.copy())
    for node in list(copy.find_all(exp.Table)):
        name = node.name.lower()
        meant = cte_of(node)
        if name not in tables or meant is None or meant.parent is not copy.args["with_"]:
            continue
        called = node.this.copy()
        if node.args.get("alias") is None:
            node.set("alias", exp.TableAlias(this=called))
        elif node.args["alias"].this is None:
            node.args["alias"].set("this", called)
        schema, _, table = tables[name].rpartition(".")
        node.set("db", exp.to_identifier(schema, quoted=True))
        node.set("this", exp.to_identifier(table, quoted=True))
    return copy
