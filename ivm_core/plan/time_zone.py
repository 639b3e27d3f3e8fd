"""Whether rows depend on the session's time zone: what is shown of an instant, or made one, differs from zone to zone."""

from __future__ import annotations

import re

from sqlglot import exp

from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import Plan, Scan, operators

# Functions that take an instant, make one, or take text that may hold one. A name too many costs a refresh, one too few a row.
_OF_TIME = re.compile(
    "time|unix|hour|minute|second|trunc|extract|part|format|window|interval|json|csv|xml|variant|sequence"
    "|months_between|try_to_date"
)
_SHORT_UNITS = frozenset({"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"})


def depends_on_time_zone(plan: Plan, query: exp.Expr) -> bool:
    """Whether the rows of a query, given with its plan, may be others in a session with another time zone.

    Without an instant in any column that is read, and nothing in the text that could make one, they are not.
    """
    types = (column.type for node in operators(plan) if isinstance(node, Scan) for column in node.columns)
    return any(map(_is_instant, types)) or any(map(_makes_instant, query.walk()))


def _is_instant(type_: str) -> bool:
    return re.search(r"timestamp(?!_?ntz)", type_.lower()) is not None


def _makes_instant(node: exp.Expr) -> bool:
    match node:
        case exp.Cast(to=to):
            return _is_instant(to.sql("spark")) or "INTERVAL" in to.sql("spark").upper()
        case exp.Interval(unit=unit):
            return unit is None or any(part in _SHORT_UNITS for part in unit.sql().upper().rstrip("S").split(" "))
        case exp.DateDiff(args={"unit": exp.Expr()}) | exp.TsOrDsToDate(args={"format": exp.Expr()}):
            return True  # of instants, which the days are taken for; the text may hold a zone
        case exp.Func():
            return _OF_TIME.search(sql_name(node)) is not None
        case _:
            return False
