"""Which queries give other rows in a session with another time zone."""

from __future__ import annotations

import pytest

from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.schema import TableSchema
from ivm_core.plan.statement import read_select
from ivm_core.plan.time_zone import depends_on_time_zone

TABLES = {
    "default.t": TableSchema("default.t", (("d", "date"), ("e", "date"), ("s", "string"), ("n", "timestamp_ntz"), ("i", "int"))),
    "default.u": TableSchema("default.u", (("at", "timestamp"), ("i", "int"))),
}  # fmt: skip


@pytest.mark.parametrize(
    ("query", "depends"),
    [
        ("SELECT d, i FROM t", False),
        ("SELECT i FROM u", False),
        ("SELECT CAST(at AS STRING) AS s FROM u", True),
        ("SELECT datediff(d, e) AS days, date_add(d, 7) AS later, last_day(d) AS last FROM t", False),
        ("SELECT to_date(s) AS d, add_months(d, 1) AS m, n FROM t", False),
        # A day begins at another instant, and where clocks change it has not 24 hours.
        ("SELECT datediff(HOUR, d, e) AS hours FROM t", True),
        ("SELECT date_diff(DAY, s, d) AS days FROM t", True),
        ("SELECT timestampdiff(HOUR, d, e) AS hours FROM t", True),
        ("SELECT dateadd(HOUR, 1, d) AS at FROM t", True),
        ("SELECT months_between(s, d) AS months FROM t", True),
        # The text may hold a zone.
        ("SELECT to_date(s, 'yyyy-MM-dd HH:mm XXX') AS d FROM t", True),
        ("SELECT try_to_date(s, 'yyyy-MM-dd HH:mm XXX') AS d FROM t", True),
    ],
)
def test_depends_on_time_zone(query: str, depends: bool) -> None:
    read = read_select(query)
    assert depends_on_time_zone(from_sql(read, TABLES), read) is depends
