"""What is known of tables when joins are ordered, and how many rows a join makes of each row of its other side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from ivm_core.plan.join_graph import equal_columns
from ivm_core.plan.nodes import WEIGHT, Changes, Filter, Join, JoinKind, Plan, Project, Scan

LARGE = 250_000  # rows from which on a table is not joined but by known keys
UNKNOWN = 10**9


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What orders joins: the rows of a table (None: unknown, taken as many) and the columns of its primary key."""

    rows: int | None = None
    key: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The rows; of an unknown table, more than any has."""
        return UNKNOWN if self.rows is None else self.rows

    def roughly(self) -> TableFacts:
        """The rows cut to their three leading binary digits."""
        if self.rows is None:
            return self
        shift = max(self.rows.bit_length() - 3, 0)
        return replace(self, rows=self.rows >> shift << shift)


Facts = Mapping[str, TableFacts]


def fan_out(table: TableFacts, columns: Iterable[str], other: TableFacts, other_columns: Iterable[str]) -> float:
    """Rows of a table for a row of another that it is joined with by these columns: 1 by its own key, an average by the
    other's, else all."""
    if table.key and set(table.key) <= set(columns):
        return 1.0
    if other.key and set(other.key) <= set(other_columns):
        return table.size / max(1, other.rows or 1)
    return float(table.size)


def joins_by_key(source: Plan, joined: Iterable[Plan], conditions: Iterable[exp.Expression], facts: Facts) -> bool:
    """Whether the conditions cover the source's declared key, or that of a part that it is joined with."""
    together, met = _matched(source, joined, conditions)
    own = known_facts(source, facts).key
    return bool(own and set(own) <= together) or any(
        set(known_facts(part, facts).key) <= theirs for part, theirs in met if known_facts(part, facts).key
    )


def least_fan_out(source: Plan, joined: Iterable[Plan], conditions: Iterable[exp.Expression], facts: Facts) -> float:
    """Rows of the source for each row of the joined parts: the least that any part's columns tell."""
    own, met = _matched(source, joined, conditions)
    known = known_facts(source, facts)
    return min(
        (fan_out(known, own, known_facts(part, facts), theirs) for part, theirs in met),
        default=float(UNKNOWN) * UNKNOWN,
    )


def _matched(
    source: Plan, joined: Iterable[Plan], conditions: Iterable[exp.Expression]
) -> tuple[set[str], list[tuple[Plan, set[str]]]]:
    """The source's columns, as stored, that are set equal to columns of the parts; and each such part with its own."""
    conditions = tuple(conditions)
    own: set[str] = set()
    met: list[tuple[Plan, set[str]]] = []
    for part in joined:
        pairs = [pair for condition in conditions for pair in equal_columns(condition, part, source)]
        own |= {_source_column(source, mine) for _, mine, _ in pairs}
        if pairs:
            met.append((part, {_source_column(part, theirs) for theirs, _, _ in pairs}))
    return own, met


def known_facts(plan: Plan, facts: Facts) -> TableFacts:
    """The facts of the table whose rows these are."""
    return facts.get(table_of(plan), TableFacts())


def table_of(plan: Plan) -> str:
    """The table whose rows these are, "" for anything computed from several."""
    match plan:
        case Changes(table) | Scan(table):
            return table
        case Filter(source) | Project(source):
            return table_of(source)
        case Join(left, _, JoinKind.SEMI):
            return table_of(left)
        case _:
            return ""


def _source_column(plan: Plan, name: str) -> str:
    """The table's own name of an output column, "" where it is computed."""
    match plan:
        case Changes(columns=columns) | Scan(columns=columns):
            return next((c.source.lower() for c in columns if c.name == name and name != WEIGHT), "")
        case Filter(source):
            return _source_column(source, name)
        case Project(source, columns=named):
            found = next((c.expression for c in named if c.name == name), None)
            return _source_column(source, found.name) if isinstance(found, exp.Column) else ""
        case Join(left, _, JoinKind.SEMI):
            return _source_column(left, name)
        case _:
            return ""
