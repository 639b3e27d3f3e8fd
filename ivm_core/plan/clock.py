"""Time as an input: a relation of one row, the clock, whose columns stand for now(), current_date() and the like.

So every rule for relations holds for time too: when the clock moves, its old row leaves and its new row enters.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.plan.nodes import Join, Plan, Scan, ScanColumn, operators, references

CLOCK = "__ivm.clock"  # no table can be called so: the prefix is kept for hidden names
NOW, TODAY, LOCAL = "now", "today", "local"
TYPES = {NOW: "timestamp", TODAY: "date", LOCAL: "timestamp_ntz"}


def clock_column(node: exp.Expr) -> str | None:
    """The column of the clock that a function call stands for; None of any other expression.

    >>> from sqlglot import parse_one
    >>> [clock_column(parse_one(sql, dialect="spark")) for sql in ("now()", "curdate()", "year(d)")]
    ['now', 'today', None]
    """
    match node:
        case exp.CurrentTimestamp():
            return NOW
        case exp.CurrentDate():
            return TODAY
        case exp.Localtimestamp():
            return LOCAL
        case exp.Anonymous() if str(node.this).lower() == "now" and not node.expressions:
            return NOW
        case _:
            return None


def spell_for_spark(query: exp.Expr) -> exp.Expr:
    """The query with the parentheses of ``localtimestamp()``, which Spark needs and sqlglot leaves out."""

    def swap(node: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="localtimestamp") if isinstance(node, exp.Localtimestamp) else node

    return query.transform(swap)


def join_clock(plan: Plan, clock: Mapping[str, str] | None, *expressions: exp.Expression) -> Plan:
    """The plan with the clock's columns that the expressions refer to; ``clock``: its columns → their names here."""
    used = {name for expression in expressions for name in references(expression)}
    missing = [source for source, name in (clock or {}).items() if name in used and name not in plan.names]
    if not missing or clock is None:
        return plan
    return Join(plan, Scan(CLOCK, tuple(ScanColumn(clock[source], source, TYPES[source]) for source in missing)))


def clock_columns(plan: Plan) -> tuple[ScanColumn, ...]:
    """The clock's columns that a plan reads."""
    scans = (node for node in operators(plan) if isinstance(node, Scan) and node.table == CLOCK)
    return tuple(column for scan in scans for column in scan.columns)


def clock_names(plan: Plan) -> frozenset[str]:
    """The names that the clock's columns have in a plan."""
    return frozenset(column.name for column in clock_columns(plan))
