"""Random queries in Spark's SQL: every construct that a view may use and DuckDB can run too, nested in one another.

Each query has one right result as a bag: rankings and LIMIT order by all that they could tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from tests.fuzz.aggregates import grouped_items, window_items
from tests.fuzz.correlated import correlated
from tests.fuzz.expressions import DECIMAL, INT, WIDE, Col, Columns, Expressions, Query
from tests.fuzz.pivots import pivoted, unpivoted
from tests.fuzz.shapes import (
    aliases,
    joined_windows,
    lateral,
    lateral_view,
    mixed_sides,
    of_matches,
    recursion,
    same_names,
    windows_of_groups,
    without_column,
)
from tests.fuzz.tables import TABLES
from tests.fuzz.views import UPSTREAM

KINDS = ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "SEMI", "ANTI")


class Queries:
    """Draws queries; ``depth`` bounds how deep subqueries in FROM may be nested."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.numbered = 0
        self.ctes: dict[str, Query] = {}
        self.expressions = Expressions(random)
        self.expressions.condition_subquery = self._condition_subquery
        self.expressions.scalar_subquery = self._scalar_subquery
        self.subqueries = 2  # a query has a few at most: each is a join

    def draw(self, depth: int = 2) -> str:
        """The text of a view's query."""
        self.expressions.tells_time = self.random.random() < 0.2
        for prefix, share in ((UPSTREAM, 0.2), (UPSTREAM, 0.1), ("w", 0.25)):
            if depth and self.random.random() < share:
                shared = self.query(depth - 1)
                self.ctes[self.name(prefix)] = shared
        query = self.query(depth)
        listed = ", ".join(f"{name} AS ({cte.sql})" for name, cte in self.ctes.items())
        return f"WITH {listed} {query.sql}" if listed else query.sql

    def query(self, depth: int) -> Query:
        """A query of any shape."""
        shapes: dict[Callable[[int], Query], float] = {
            self._select: 6,
            self._group: 6,
            self._windows: 3 if depth else 1,
            self._set_operation: 3 if depth else 0,
            self._top: 2,
            self._distinct: 2,
            self._first_distinct: 1.5,
            self._grouping_sets: 1,
            self._ranked: 1,
            partial(same_names, self): 2,
            partial(lateral, self): 1,
            partial(correlated, self): 1.5,
            partial(without_column, self): 1 if depth else 0,
            partial(aliases, self): 1,
            partial(windows_of_groups, self): 1,
            partial(pivoted, self): 1,
            partial(unpivoted, self): 0.7,
            partial(recursion, self): 0.7,
            partial(mixed_sides, self): 1,
            partial(joined_windows, self): 1,
            partial(of_matches, self): 1.5,
        }
        return self.random.choices(list(shapes), list(shapes.values()))[0](depth)

    # Shapes

    def _select(self, depth: int) -> Query:
        source, columns = self.source(depth)
        items = [self.expressions.value(columns) for _ in range(self.random.randint(1, 3))]
        return self.made(f"SELECT {{}} FROM {source}{self.where(columns)}", items)

    def _distinct(self, depth: int) -> Query:
        source, columns = self.source(depth)
        items = [self.expressions.value(columns) for _ in range(self.random.randint(1, 2))]
        return self.made(f"SELECT DISTINCT {{}} FROM {source}{self.where(columns)}", items)

    def _first_distinct(self, depth: int) -> Query:
        """The first rows by all items, which subqueries may be among."""
        source, columns = self.source(depth)
        items = [self.expressions.value(columns) for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.6:
            items.append(Col(self._scalar_subquery(columns), INT))
        self.random.shuffle(items)
        where = self.where(columns)
        keys = ", ".join(f"{place}{self.random.choice(('', ' DESC'))}" for place in range(1, len(items) + 1))
        return self.made(f"SELECT DISTINCT {{}} FROM {source}{where} ORDER BY {keys} {self.limit()}", items)

    def limit(self) -> str:
        """A LIMIT, and now and then an OFFSET."""
        return f"LIMIT {self.random.choice((1, 2, 4))}{self.random.choice(('', '', ' OFFSET 1'))}"

    def _group(self, depth: int) -> Query:
        source, columns = self.source(depth)
        keys = [self.expressions.value(columns, depth=self.random.choice((0, 0, 1))) for _ in range(self._key_count())]
        computed, having = grouped_items(self.random, self.expressions, columns, keys)
        listed = ", ".join(key.sql for key in keys)
        # Constant keys would be taken for ordinals.
        grouped = f" GROUP BY {listed}" if keys and all(any(c.sql in key.sql for c in columns) for key in keys) else ""
        shown = [key for key in keys if self.random.random() < 0.85] if grouped else []
        if len(shown) == len(keys) and grouped and self.random.random() < 0.2:
            # The keys are the first items, and all that are no aggregates.
            ordinals = ", ".join(str(place) for place in range(1, len(keys) + 1))
            grouped = self.random.choice((" GROUP BY ALL", f" GROUP BY {ordinals}"))
        return self.made(f"SELECT {{}} FROM {source}{self.where(columns)}{grouped}{having}", [*shown, *computed])

    def _grouping_sets(self, depth: int) -> Query:
        source, columns = self.source(depth)
        keys = list({column.sql: column for column in self.random.sample(columns, k=min(2, len(columns)))}.values())
        computed, _ = grouped_items(self.random, self.expressions, columns, [])
        names = [key.sql for key in keys]
        listed = ", ".join(names)
        grouping = self.random.choice(
            (f"ROLLUP({listed})", f"CUBE({listed})", f"GROUPING SETS (({names[0]}), ({names[-1]}), ())")
        )
        flag = [Col(f"CAST(grouping({names[0]}) AS INT)", INT)]
        return self.made(
            f"SELECT {{}} FROM {source}{self.where(columns)} GROUP BY {grouping}", [*keys, *flag, *computed]
        )

    def _windows(self, depth: int) -> Query:
        source, columns = self.source(depth)
        shown = self.random.sample(columns, k=min(len(columns), 2))
        functions = window_items(self.random, self.expressions, columns)
        return self.made(f"SELECT {{}} FROM {source}{self.where(columns)}", [*shown, *functions])

    def _ranked(self, depth: int) -> Query:
        """The first rows of each group."""
        source, columns = self.source(depth)
        partition = self.expressions.coarser(columns)
        ordered = ", ".join(column.sql for column in columns)
        rank = self.random.choice(("row_number()", "rank()"))
        window = f"{rank} OVER (PARTITION BY {partition} ORDER BY {ordered})"
        shown = self.random.sample(columns, k=min(len(columns), 3))
        return self.made(
            f"SELECT {{}} FROM {source}{self.where(columns)} QUALIFY {window} <= {self.random.choice((1, 2))}", shown
        )

    def _top(self, depth: int) -> Query:
        inner = self.query(max(depth - 1, 0))
        alias = self.name("q")
        directions = [f"{alias}.{column.sql}{self.random.choice(('', ' DESC'))}" for column in inner.columns]
        columns = [Col(f"{alias}.{column.sql}", column.type) for column in inner.columns]
        return self.made(
            f"SELECT {{}} FROM ({inner.sql}) AS {alias} ORDER BY {', '.join(directions)} {self.limit()}", columns
        )

    def _set_operation(self, depth: int) -> Query:
        operator = self.random.choice(
            ("UNION ALL", "UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
        )
        left = self.query(depth - 1)
        right_columns = self.source(depth - 1)
        source, columns = right_columns
        items = [self.expressions.value(columns, self._beside(column.type)) for column in left.columns]
        right = self.made(f"SELECT {{}} FROM {source}{self.where(columns)}", items)
        alias = self.name("q")
        shown = ", ".join(f"{alias}.{column.sql}" for column in left.columns)
        return Query(
            f"SELECT {shown} FROM (SELECT * FROM ({left.sql}) {operator} SELECT * FROM ({right.sql})) AS {alias}",
            tuple(
                Col(column.sql, column.type if column.type == item.type else WIDE)
                for column, item in zip(left.columns, items, strict=True)
            ),
        )

    def _beside(self, type_: str) -> str:
        """A type that a set operation may have on its other side."""
        others = {INT: DECIMAL, DECIMAL: INT, WIDE: INT}
        return others[type_] if type_ in others and self.random.random() < 0.35 else type_

    # Parts

    def source(self, depth: int) -> tuple[str, list[Col]]:
        """The FROM clause and the columns that it offers."""
        sql, columns = self.relation(depth)
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            other, others = self.relation(max(depth - 1, 0))
            kind = self.random.choice(KINDS)
            if kind == "CROSS JOIN":
                sql, columns = f"{sql} CROSS JOIN {other}", [*columns, *others]
            elif kind in ("SEMI", "ANTI"):
                sql = f"{sql} LEFT {kind} JOIN {other} ON {self.join_condition(columns, others)}"
            else:
                sql = f"{sql} {kind} {other} ON {self.join_condition(columns, others)}"
                columns = [*columns, *others]
        return lateral_view(self, sql, columns)

    def join_condition(self, left: Columns, right: Columns) -> str:
        """Without subqueries: Spark has none in an outer join's condition."""
        kept, self.subqueries = self.subqueries, 0
        condition = self.expressions.equality(left, right)
        self.subqueries = kept
        return condition

    def relation(self, depth: int) -> tuple[str, list[Col]]:
        alias = self.name("t")
        pick = self.random.random()
        if self.ctes and pick < 0.4:
            name, query = self.random.choice(list(self.ctes.items()))
            return f"{name} AS {alias}", [Col(f"{alias}.{c.sql}", c.type) for c in query.columns]
        if depth and pick < 0.75:
            query = self.query(depth - 1)
            return f"({query.sql}) AS {alias}", [Col(f"{alias}.{c.sql}", c.type) for c in query.columns]
        if pick > 0.97:
            return f"(VALUES (1, 'x'), (2, NULL), (1, 'x')) AS {alias}(i, j)", [
                Col(f"{alias}.i", INT),
                Col(f"{alias}.j", "string"),
            ]
        table = self.random.choice(list(TABLES.values()))
        return f"{table.name} AS {alias}", [Col(f"{alias}.{name}", kind) for name, kind in table.columns]

    def where(self, columns: Columns) -> str:
        if self.random.random() < 0.5:
            return ""
        return f" WHERE {self.expressions.condition(columns, filters=True)}"

    def _condition_subquery(self, columns: Columns, filters: bool) -> str:
        if not self.subqueries:
            return f"{columns[0].sql} IS NOT NULL"
        self.subqueries -= 1
        source, own = self.relation(0)
        correlated = f" WHERE {self.join_condition(columns, own)}" if self.random.random() < 0.8 else ""
        match self.random.randrange(4 if filters else 2):
            case 0:
                return f"EXISTS (SELECT 1 FROM {source}{correlated})"
            case 1:
                return f"NOT EXISTS (SELECT 1 FROM {source}{correlated})"
        matching = [(mine, its) for mine in columns for its in own if mine.type == its.type]
        if not matching:
            return f"EXISTS (SELECT 1 FROM {source}{correlated})"
        mine, its = self.random.choice(matching)
        return f"{mine.sql} {self.random.choice(('', 'NOT '))}IN (SELECT {its.sql} FROM {source}{correlated})"

    def _scalar_subquery(self, columns: Columns) -> str:
        if not self.subqueries:
            return "1"
        self.subqueries -= 1
        source, own = self.relation(0)
        numbers = [column.sql for column in own if column.type == INT]
        call = self.random.choice(["CAST(count(*) AS INT)", *(f"{f}({n})" for f in ("max", "min") for n in numbers)])
        correlated = f" WHERE {self.plain_equality(columns, own)}" if self.random.random() < 0.7 else ""
        return f"(SELECT {call} FROM {source}{correlated})"

    def plain_equality(self, left: Columns, right: Columns) -> str:
        """A plain equality of columns of two sides: what Spark lets an aggregate's subquery be correlated by."""
        pairs = [f"{one.sql} = {other.sql}" for one in left for other in right if one.type == other.type]
        return self.random.choice(pairs) if pairs else "1 = 1"

    def _key_count(self) -> int:
        return self.random.choice((0, 1, 1, 1, 2))

    def made(self, template: str, items: Sequence[Col]) -> Query:
        """The query with its items named afresh, so that no two names meet."""
        columns = tuple(Col(self.name("c"), item.type) for item in items)
        listed = ", ".join(f"{item.sql} AS {column.sql}" for item, column in zip(items, columns, strict=True))
        return Query(template.replace("{}", listed, 1), columns)

    def name(self, prefix: str) -> str:
        self.numbered += 1
        return f"{prefix}{self.numbered}"
