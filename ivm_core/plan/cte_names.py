"""Which common table expression a name in FROM means, by where it stands."""

from __future__ import annotations

from sqlglot import exp


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The common table expression that a name means, looked for from the inside outwards; None of a table's name.

    A CTE sees those before it, and itself only in WITH RECURSIVE.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("WITH t AS (SELECT a FROM t) SELECT a FROM t JOIN s.t AS u USING (a)")
    >>> [(table.sql(), cte_of(table) is not None) for table in tree.find_all(exp.Table)]
    [('t', True), ('s.t AS u', False), ('t', False)]
    """
    if table.db or not isinstance(table.this, exp.Identifier):
        return None
    node: exp.Expr = table
    while node.parent is not None:
        above = node.parent
        if isinstance(above, exp.With):
            visible = above.expressions[: (node.index or 0) + bool(above.args.get("recursive"))]
        else:
            clause = above.args.get("with_")
            visible = clause.expressions if isinstance(clause, exp.With) and clause is not node else []
        named = (cte for cte in reversed(visible) if cte.alias.lower() == table.name.lower())
        found: exp.CTE | None = next(named, None)
        if found is not None:
            return found
        node = above
    return None


def is_shared(cte: exp.CTE, query: exp.Expr) -> bool:
    """Whether the query, which has the CTE in its WITH, reads it in more than one place."""
    return sum(cte_of(table) is cte for table in query.find_all(exp.Table)) > 1
