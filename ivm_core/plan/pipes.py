"""Spark's pipe syntax: every operator after ``|>`` works on the result of what stands before it.

``FROM t |> LIMIT 3 |> WHERE a > 1`` → ``SELECT * FROM (SELECT * FROM t LIMIT 3) WHERE a > 1``. sqlglot puts the clauses of
all operators into one SELECT, which means something else.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser as _Parser
from sqlglot.tokenizer_core import TokenType

from ivm_core.errors import UnsupportedConstruct

_FROM = frozenset(("expressions", "from_"))
_JOINED = _FROM | {"joins"}
_FILTERED = _JOINED | {"laterals", "where"}
_ORDERS = frozenset(("order", "sort", "cluster", "distribute"))
_COUNTS = frozenset(("limit", "offset"))
_SELECTED = frozenset(("expressions", "distinct", "hint", "windows"))
_GROUPINGS = ("ROLLUP", "CUBE", "GROUPING")


class PipeParser(_Parser):
    """sqlglot's parser with pipes of its own."""

    def _parse_statement(self) -> exp.Expr | None:
        return self._piped(super()._parse_statement())

    def _parse_wrapped_select(self, table: bool = False) -> exp.Expr | None:
        return self._piped(super()._parse_wrapped_select(table))

    def _parse_select(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
        consume_pipe: bool = True,
    ) -> exp.Expr | None:
        """A query with its operators; those after a table of FROM are not the table's."""
        consume_pipe = consume_pipe and not table
        return super()._parse_select(nested, table, parse_subquery_alias, parse_set_operation, consume_pipe)

    def _piped(self, query: exp.Expr | None) -> exp.Expr | None:
        """The query with the operators that sqlglot leaves: after VALUES, and after set operations of parentheses."""
        if isinstance(query, exp.Query | exp.Values) and self._match(TokenType.PIPE_GT, advance=False):
            return self._parse_pipe_syntax_query(query)
        return query

    def _parse_pipe_syntax_query(self, query: exp.Query | exp.Values) -> exp.Query | None:
        piped: exp.Query = _select_from(query) if isinstance(query, exp.Subquery | exp.Values) else query
        while self._match(TokenType.PIPE_GT):
            piped = self._parse_pipe_operator(piped)
        return self._parse_clauses(piped)

    def _parse_pipe_operator(self, query: exp.Query) -> exp.Query:
        match self._curr.token_type:
            case TokenType.SELECT:
                return self._parse_pipe_select(query)
            case TokenType.WHERE:
                return _over(query, _FILTERED).where(self._parse_where(), copy=False)
            case TokenType.PIVOT | TokenType.UNPIVOT:
                return self._parse_pipe_pivot(query)
            case TokenType.TABLE_SAMPLE:
                self._refuse("TABLESAMPLE")
            case TokenType.WINDOW:
                self._refuse("|> WINDOW", "Write the clause after the items of |> SELECT.")
            case TokenType.ORDER_BY | TokenType.LIMIT | TokenType.OFFSET:
                return self._parse_clauses(query)
            case TokenType.SORT_BY | TokenType.CLUSTER_BY | TokenType.DISTRIBUTE_BY:
                return self._parse_clauses(query)
            case TokenType.SET:
                self._refuse("|> SET", "Write |> SELECT * EXCEPT (a), … AS a.")
            case TokenType.ALIAS:
                self._advance()
                name = self._parse_id_var(any_token=False) or self._fail("A name is missing")
                return _select_from(_subquery(query, name))
            case TokenType.DROP:
                self._advance()
                names = self._parse_csv(lambda: self._parse_id_var(any_token=False))
                return _with_items(query, exp.Star(except_=names or self._fail("A name is missing")))
        if self._match_text_seq("EXTEND"):
            return _with_items(query, exp.Star(), *self._without_aggregates(self._parse_expressions()))
        if self._match_text_seq("AGGREGATE"):
            return self._parse_pipe_aggregate(query)
        return self._parse_pipe_set_operation(query) or self._parse_pipe_join(query)

    def _parse_pipe_select(self, query: exp.Query) -> exp.Query:
        made = self._parse_select(parse_set_operation=False, consume_pipe=False)
        if not isinstance(made, exp.Select) or not made.expressions:
            self._fail("|> SELECT takes expressions only")
        self._without_aggregates(made.expressions)
        after = self._check_end(made, _SELECTED)
        over = _over(query, _FILTERED)
        for clause in (*_SELECTED, *after):
            over.set(clause, made.args.get(clause))
        return over

    def _parse_pipe_aggregate(self, query: exp.Query) -> exp.Query:
        """The keys come first, then the aggregates."""
        grouped = self._match(TokenType.GROUP_BY, advance=False)
        calls: list[exp.Expr] = [] if grouped else self._parse_expressions()
        keys: list[exp.Expr] = []
        if self._match(TokenType.GROUP_BY):
            if self._match(TokenType.ALL, advance=False) or self._match_texts(_GROUPINGS, advance=False):
                self._refuse(f"GROUP BY {self._curr.text.upper()} in |> AGGREGATE", "Write SELECT … GROUP BY.")
            keys = self._parse_expressions()
        bare = [key.unalias() for key in keys]
        if not keys and not calls:
            self._fail("|> AGGREGATE takes aggregates, GROUP BY, or both")
        if any(isinstance(key, exp.Literal | exp.Tuple | exp.Star) for key in bare):
            self._refuse("A position, a constant or several columns in parentheses as a key of |> AGGREGATE")
        if any(_finds(call, exp.Window) for call in (*keys, *calls)):
            self._fail("|> AGGREGATE takes no window functions; write |> EXTEND")
        over = _with_items(query, *keys, *calls)
        if keys:
            over.set("group", exp.Group(expressions=[key.copy() for key in bare]))
        elif not any(_finds(call, exp.AggFunc) for call in calls):
            over.set("having", exp.Having(this=exp.true()))  # one group, even if only users' own functions aggregate
        return over

    def _parse_pipe_pivot(self, query: exp.Query) -> exp.Query:
        pivots = self._parse_pivots() or []
        if len(pivots) != 1:
            self._fail("Write |> in front of each PIVOT and UNPIVOT")
        inner = _subquery(query)
        inner.set("pivots", pivots)
        return _select_from(inner)

    def _parse_pipe_set_operation(self, query: exp.Query) -> exp.Query | None:
        made = self.parse_set_operation(_subquery(query))
        if made is None:
            return None
        right = made.expression
        if isinstance(right, exp.Select):  # what follows the last SELECT belongs to the whole
            for clause in self._check_end(right, set(right.args) - _ORDERS - _COUNTS):
                made.set(clause, right.args[clause])
                right.set(clause, None)
        return made

    def _parse_pipe_join(self, query: exp.Query) -> exp.Query:
        join = None if self._match(TokenType.COMMA, advance=False) else self._parse_join()
        if join is None:
            self._fail("An operator must follow |>")
        over = _over(query, _JOINED)
        over.append("joins", join)
        return over

    def _parse_clauses(self, query: exp.Query) -> exp.Query:
        """ORDER BY, LIMIT and OFFSET, as an operator or at the end of the query."""
        clauses = self._parse_query_modifiers(exp.Select())
        given = {clause for clause, value in clauses.args.items() if value}
        if not given:
            return query
        if not given <= _ORDERS | _COUNTS:
            self._fail("Write |> in front of each operator")
        if given & _ORDERS:
            query = _over(query, _FILTERED)
        elif any(query.args.get(clause) for clause in ("limit", *given)):
            query = _over(query, _FROM)
        for clause in given:
            query.set(clause, clauses.args[clause])
        return query

    def _check_end(self, select: exp.Select, allowed: frozenset[str] | set[str]) -> set[str]:
        """The clauses of a query's end that sqlglot took for the SELECT's; nothing else may stand there but ``allowed``."""
        extra = {clause for clause, value in select.args.items() if value} - allowed
        if not extra <= _ORDERS | _COUNTS or (extra and self._match(TokenType.PIPE_GT, advance=False)):
            self._fail("Write |> in front of each operator")
        return extra

    def _without_aggregates(self, items: list[exp.Expr]) -> list[exp.Expr]:
        if any(_finds(item, exp.AggFunc) for item in items):
            self._fail("Aggregates need |> AGGREGATE")
        return items

    def _fail(self, message: str) -> NoReturn:
        self.raise_error(message)
        raise AssertionError(message)  # never reached: errors are raised at once

    def _refuse(self, construct: str, advice: str = "") -> NoReturn:
        token = self._curr if self._curr.token_type != TokenType.SENTINEL else self._prev
        message = f"{construct} cannot be kept in a view. {advice}".strip()
        column = max(1, token.col - len(token.text) + 1)
        raise UnsupportedConstruct(message, construct=construct, line=token.line, column=column)


def _over(query: exp.Query, clauses: frozenset[str]) -> exp.Select:
    """The query itself if it is a ``SELECT *`` of none but these clauses, else a SELECT of its result."""
    given = {clause for clause, value in query.args.items() if value}
    if isinstance(query, exp.Select) and query.expressions == [exp.Star()] and given <= clauses:
        return query
    return _select_from(_subquery(query, _table_name(query)))


def _table_name(query: exp.Query) -> exp.Identifier | None:
    """The name of the one table whose rows the query gives, unchanged: what follows may use it as before."""
    given = {clause for clause, value in query.args.items() if value}
    if query.args.get("expressions") != [exp.Star()] or not given <= _FROM | {"where"} | _ORDERS | _COUNTS:
        return None
    table = query.args["from_"].this
    alias = table.args.get("alias")
    name = alias.this if alias is not None else table.this
    return name.copy() if isinstance(name, exp.Identifier) and not table.args.get("pivots") else None


def _subquery(query: exp.Query, name: exp.Expr | None = None) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=name) if name is not None else None)


def _select_from(source: exp.Expr) -> exp.Select:
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=source))


def _with_items(query: exp.Query, *items: exp.Expr) -> exp.Select:
    over = _over(query, _FILTERED)
    over.set("expressions", list(items))
    return over


def _finds(item: exp.Expr, kind: type[exp.Expr]) -> bool:
    """Whether an expression holds one, outside of windows and subqueries."""
    return any(
        isinstance(node, kind) for node in item.walk(prune=lambda node: isinstance(node, exp.Window | exp.Query))
    )
