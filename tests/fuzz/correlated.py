"""Correlated subqueries of every form: grouped, ranked, cut, set operations, with CTEs and subqueries in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.expressions import INT, Col, Columns, Query

if TYPE_CHECKING:
    from tests.fuzz.grammar import Queries

_SETS = ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")


def correlated(queries: Queries, depth: int) -> Query:
    """A query with one such subquery: as a condition, a value, or a relation for each row."""
    random = queries.random
    source, columns = queries.relation(max(depth - 1, 0))  # no LATERAL VIEW, after which Spark takes no LATERAL
    kept, queries.subqueries = queries.subqueries, 0  # none stands in another
    label = queries.name("c")
    body = _body(queries, columns, label)
    queries.subqueries = kept
    shown = random.sample(columns, k=min(2, len(columns)))
    match random.randrange(7):
        case 0 | 1:
            negated = random.choice(("", "NOT "))
            return queries.made(f"SELECT {{}} FROM {source} WHERE {negated}EXISTS ({body})", shown)
        case 2 | 3:
            mine = queries.expressions.value(columns, INT, depth=0).sql
            negated = random.choice(("", "NOT "))
            return queries.made(f"SELECT {{}} FROM {source} WHERE {mine} {negated}IN ({body})", shown)
        case 4:
            alias = queries.name("q")
            call = random.choice(
                ("CAST(count(*) AS INT)", f"max({alias}.{label})", f"CAST(count({alias}.{label}) AS INT)")
            )
            value = Col(f"(SELECT {call} FROM ({body}) AS {alias})", INT)
            return queries.made(f"SELECT {{}} FROM {source}", [*shown, value])
        case _:
            alias = queries.name("q")
            side = random.choice((f", LATERAL ({body}) AS {alias}", f" LEFT JOIN LATERAL ({body}) AS {alias} ON TRUE"))
            return queries.made(f"SELECT {{}} FROM {source}{side}", [*shown, Col(f"{alias}.{label}", INT)])


def _body(queries: Queries, outer: Columns, label: str) -> str:
    """A query of one INT column, whose rows depend on the row around it."""
    random = queries.random
    if random.random() < 0.3:
        # In a set operation DuckDB loses the row that an aggregate has where nothing matches.
        one, other = (_single(queries, outer, label, whole=False) for _ in range(2))
        return f"({one}) {random.choice(_SETS)} ({other})"
    one = _single(queries, outer, label)
    match random.randrange(4):
        case 0:
            alias = queries.name("q")
            return f"SELECT {alias}.{label} FROM ({one}) AS {alias} WHERE {alias}.{label} > 0"
        case 1:
            name = queries.name("w")
            return f"WITH {name} AS ({one}) SELECT {label} FROM {name}"
        case _:
            return one


def _single(queries: Queries, outer: Columns, label: str, *, whole: bool = True) -> str:
    """``whole``: it may be an aggregate of all rows."""
    random = queries.random
    source, own = queries.relation(0)
    if random.random() < 0.3:
        other, others = queries.relation(0)
        source = f"{source} {random.choice(('JOIN', 'LEFT JOIN'))} {other} ON {queries.join_condition(own, others)}"
        own = [*own, *others]
    condition = queries.join_condition(outer, own) if random.random() < 0.5 else queries.plain_equality(outer, own)
    where = f" WHERE {condition}" if random.random() < 0.9 else ""
    number = queries.expressions.value(own, INT, depth=0).sql
    every = ", ".join(column.sql for column in own)
    match random.randrange(7):
        case 0:
            return f"SELECT DISTINCT {number} AS {label} FROM {source}{where}"
        case 1:
            key = random.choice(own).sql
            call = random.choice((f"max({number})", "CAST(count(*) AS INT)"))
            having = random.choice(("", " HAVING count(*) > 1"))
            return f"SELECT {call} AS {label} FROM {source}{where} GROUP BY {key}{having}"
        case 2 if whole:
            call = random.choice((f"max({number})", "CAST(count(*) AS INT)", f"min({number}) + CAST(count(*) AS INT)"))
            having = random.choice(("", "", " HAVING count(*) > 1", " HAVING count(*) = 0"))
            return f"SELECT {call} AS {label} FROM {source}{where}{having}"
        case 3:
            rank = random.choice((f"rank() OVER (ORDER BY {number})", f"row_number() OVER (ORDER BY {every})"))
            return f"SELECT {number} AS {label} FROM {source}{where} QUALIFY {rank} <= {random.choice((1, 2))}"
        case 4:
            call = random.choice((f"rank() OVER (ORDER BY {number})", "count(*) OVER ()", f"max({number}) OVER ()"))
            return f"SELECT CAST({call} AS INT) AS {label} FROM {source}{where}"
        case 5:
            return f"SELECT {number} AS {label} FROM {source}{where} ORDER BY {every} {queries.limit()}"
        case _:
            return f"SELECT {number} AS {label} FROM {source}{where}"
