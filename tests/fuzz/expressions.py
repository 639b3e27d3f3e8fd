"""Random scalar expressions of Spark's SQL by type, over the columns of a query's FROM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

INT, DECIMAL, STRING, DATE, BIGINT, DOUBLE = "int", "decimal(10,2)", "string", "date", "bigint", "double"
ARRAY, STRUCT = "array<int>", "struct<x:int,y:string>"
WIDE = "decimal(12,2)"  # of INT and DECIMAL in one column
EXACT = (INT, BIGINT, DECIMAL, WIDE)  # compared by their values, whatever their types
_LITERALS = {
    INT: ("0", "1", "2", "-1"),
    DECIMAL: ("1.50", "0.05"),
    WIDE: ("1.50", "2.00"),
    STRING: ("'x'", "''", "'xy'"),
    DATE: ("date'2024-02-29'", "date'2000-01-01'"),
    BIGINT: ("7L", "0L"),
    DOUBLE: ("1.0D", "-0.5D"),
    ARRAY: ("array(1, 2)", "array(1)"),
    STRUCT: ("named_struct('x', 1, 'y', 'x')",),
}
COMPARED = ("=", "=", "<", "<=", ">", "<>", "<=>")


@dataclass(frozen=True, slots=True)
class Col:
    """A column as it is written, and its type."""

    sql: str
    type: str


Columns = Sequence[Col]


@dataclass(frozen=True, slots=True)
class Query:
    """A query's text and its columns."""

    sql: str
    columns: tuple[Col, ...]


class Expressions:
    """Draws expressions. ``subquery`` draws a condition with a subquery correlated to the columns, where it may."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.condition_subquery: Callable[[Columns, bool], str] | None = None
        self.scalar_subquery: Callable[[Columns], str] | None = None
        self.tells_time = False

    def value(self, columns: Columns, type_: str | None = None, depth: int = 1) -> Col:
        """An expression; of the given type, or of any that the columns have."""
        if type_ is None and depth and self.random.random() < 0.04:
            type_ = self.random.choice((ARRAY, STRUCT))
            return Col(self.collection(columns, type_), type_)
        if type_ is None:
            type_ = self.random.choice([column.type for column in columns] or [INT])
        return Col(self._value(columns, type_, depth), type_)

    def condition(self, columns: Columns, depth: int = 1, *, filters: bool = False) -> str:
        """A condition, which may be true, false or unknown. ``filters``: false and unknown mean the same there, as they
        must for IN (subquery): Spark gives false where the standard says unknown."""
        pick = self.random.random()
        if depth > 0 and pick < 0.2:
            operator = self.random.choice((" AND ", " OR "))
            parts = [self.condition(columns, depth - 1, filters=filters) for _ in range(2)]
            return f"({operator.join(parts)})"
        if depth > 0 and pick < 0.27:
            return f"NOT ({self.condition(columns, depth - 1)})"
        if pick < 0.42 and self.condition_subquery is not None:
            return self.condition_subquery(columns, filters)
        if self.tells_time and self.random.random() < 0.5:
            return self._of_time(columns)
        left = self.value(columns, depth=0)
        match self.random.randrange(8):
            case 0:
                return f"{left.sql} IS {self.random.choice(('', 'NOT '))}NULL"
            case 1:
                listed = ", ".join(self.random.sample(_LITERALS[left.type], k=min(2, len(_LITERALS[left.type]))))
                return f"{left.sql} {self.random.choice(('', 'NOT '))}IN ({listed})"
            case 2 if left.type in (INT, DECIMAL):
                return f"{left.sql} BETWEEN {self._literal(left.type)} AND {self._value(columns, left.type, 0)}"
            case 2 if left.type == WIDE:
                return f"CAST({left.sql} AS STRING) LIKE '%.00'"
            case 3 if left.type == STRING:
                return f"{left.sql} LIKE 'x%'"
        right = self._value(columns, left.type, depth) if self.random.random() < 0.5 else self._literal(left.type)
        operators = COMPARED if left.type not in (ARRAY, STRUCT) else ("=", "<>", "<=>")
        return f"{left.sql} {self.random.choice(operators)} {right}"

    def equality(self, left: Columns, right: Columns) -> str:
        """A condition between the columns of two sides, an equality where their types allow."""
        pairs = [(one, other) for one in left for other in right if one.type == other.type]
        if not pairs:
            return self.condition([*left, *right], 0)
        one, other = self.random.choice(pairs)
        operator = "=" if self.random.random() < 0.85 else self.random.choice(COMPARED)
        found = f"{one.sql} {operator} {other.sql}"
        if self.random.random() < 0.2:
            found = self._equality_of_types(left, right) or found
        if self.random.random() < 0.3:
            one, other = self.random.choice(pairs)
            found += f" AND {one.sql} {self.random.choice(COMPARED)} {other.sql}"
        return found if self.random.random() < 0.85 else f"{found} AND {self.condition([*left, *right], 0)}"

    def _equality_of_types(self, left: Columns, right: Columns) -> str:
        """An equality of columns of different types, as text where they have no order in common; "" where all are alike."""
        pairs = [(one, other) for one in left for other in right if one.type != other.type]
        numbers = [f"{one.sql} = {other.sql}" for one, other in pairs if {one.type, other.type} <= set(EXACT)]
        texts = [
            f"CAST({one.sql} AS STRING) <=> CAST({other.sql} AS STRING)"
            for one, other in pairs
            if {one.type, other.type} <= {*EXACT, STRING}
        ]
        return self.random.choice([*numbers, *texts] or [""])

    def coarser(self, columns: Columns) -> str:
        """A column, or an expression that has one value for several of a column's."""
        column = self.random.choice(columns)
        name = column.sql
        if self.random.random() < 0.6:
            return name
        match column.type:
            case "int" | "bigint":
                return self.random.choice((f"{name} % 2", f"CAST({name} AS BOOLEAN)"))
            case "decimal(10,2)" | "decimal(12,2)":
                return f"CAST({name} AS INT)"
            case "string":
                return self.random.choice((f"TRY_CAST({name} AS INT)", f"upper({name})"))
            case "date":
                return f"year({name})"
            case _:
                return name

    def _of_time(self, columns: Columns) -> str:
        """A condition that the clock can change."""
        days = self.random.choice(("", "", " - INTERVAL 1 DAY", " + INTERVAL 29 DAYS"))
        dates = [column.sql for column in columns if column.type == DATE]
        if not dates:
            return self.random.choice(("current_date() > date'2024-01-31'", "day(current_date()) = 1"))
        date = self.random.choice(dates)
        operator = self.random.choice(("<", "<=", "=", ">", ">=", "<>"))
        return self.random.choice(
            (
                f"{date} {operator} current_date(){days}",
                f"{date} {operator} current_date(){days}",
                f"{date} BETWEEN current_date() - INTERVAL 2 DAYS AND current_date()",
                f"CAST({date} AS TIMESTAMP) {operator} current_timestamp() - INTERVAL 30 HOURS",
                f"datediff(current_date(), {date}) {operator} 1",
                f"{date} IS NULL OR {date} < current_date()",
            )
        )

    def _literal(self, type_: str) -> str:
        return self.random.choice(_LITERALS[type_])

    def _value(self, columns: Columns, type_: str, depth: int) -> str:
        own = [column.sql for column in columns if column.type == type_]
        if own and (depth == 0 or self.random.random() < 0.55):
            return self.random.choice(own)
        if depth == 0:
            return self._literal(type_)
        if self.random.random() < 0.12 and self.scalar_subquery is not None and type_ == INT:
            return self.scalar_subquery(columns)
        one, other = (self._value(columns, type_, depth - 1) for _ in range(2))
        common = [
            f"CASE WHEN {self.condition(columns, 0)} THEN {one} ELSE {other} END",
            f"CASE WHEN {self.condition(columns, 0)} THEN {one} END",
            f"coalesce({one}, {other})",
            f"nullif({one}, {other})",
            f"if({self.condition(columns, 0)}, {one}, {other})",
        ]
        return self.random.choice([*common, *self._of_type(columns, type_, one, other)])

    def _of_type(self, columns: Columns, type_: str, one: str, other: str) -> list[str]:
        arrays, structs = ([c.sql for c in columns if c.type == kind] for kind in (ARRAY, STRUCT))
        if type_ == INT and (arrays or structs):
            return [f"{struct}.x" for struct in structs] + [f"{array}[0]" for array in arrays]
        if type_ == STRING and structs:
            return [f"{struct}.y" for struct in structs]
        if self.tells_time and type_ == INT:
            return [f"datediff(current_date(), {self._value(columns, DATE, 0)})", "day(current_date())"]
        if self.tells_time and type_ == DATE:
            return ["current_date()", f"greatest({one}, current_date())"]
        match type_:
            case "int":
                text, key = self._value(columns, STRING, 0), self.random.choice(("'x'", "'xy'"))
                return [
                    f"({one} + {other})", f"({one} - {other})", f"({one} * 2)", f"({one} % 2)", f"abs({one})",
                    f"length({text})", f"CAST({self.condition(columns, 0)} AS INT)", f"map('x', {one}, '', {other})[{key}]",
                ]  # fmt: skip
            case "string":
                exact = [f"CAST({c.sql} AS STRING)" for c in columns if c.type in (DECIMAL, WIDE)]
                texts = [f"({one} || {other})", f"upper({one})", f"CAST({self._value(columns, INT, 0)} AS STRING)"]
                return [*texts, *exact]
            case "decimal(10,2)":
                return [f"CAST({one} / 4 AS DECIMAL(10,2))", f"CAST({self._value(columns, INT, 0)} AS DECIMAL(10,2))"]
            case "date":
                return [f"date_add({one}, 1)", f"greatest({one}, {other})"]
            case "array<int>" | "struct<x:int,y:string>":
                return [self.collection(columns, type_)]
            case _:
                return [f"least({one}, {other})"]

    def collection(self, columns: Columns, type_: str) -> str:
        """An array or a struct of columns."""
        number, other = (self._value(columns, INT, 0) for _ in range(2))
        if type_ == ARRAY:
            return f"array({number}, {other})"
        return f"named_struct('x', {number}, 'y', {self._value(columns, STRING, 0)})"
