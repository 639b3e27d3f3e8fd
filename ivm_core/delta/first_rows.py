"""The first rows of an order, kept with some to spare, so that deletions rarely read the tables again.

Of ORDER BY … LIMIT k over rows that are not grouped the state holds the first k′ rows, k ≤ k′ ≤ ``most``, and the view shows
k of them. A batch drops those that went and puts in those that came before the last one; k′ falls and rises with it. Only where
fewer than k are left, a refill takes the first ``most`` rows of the query (Yi, Yu, Yang, Xia, Chen, "Efficient maintenance of
materialized top-k views", ICDE 2003). The state needs no word of how far it reaches: whatever is not in it comes after its
last row, or there is nothing else, which is so where it has fewer than k.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sqlglot import exp

from ivm_core.plan.clock import clock_names
from ivm_core.plan.inexact import inexact_columns, is_inexact
from ivm_core.plan.nodes import Limit
from ivm_core.plan.schema import types_of

MOST_SHOWN = 10_000  # rows; of more, sorting them all costs what it spares
LEAST_SPARE = 100  # rows beside those shown
# Types that Spark orders and groups alike. Of -0.0 and 0.0, which are equal, either may be shown, as where rows are added up.
_ORDERED = re.compile(
    r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)|date|timestamp|timestamp_ntz|boolean|string|binary"
)


@dataclass(frozen=True, slots=True)
class FirstRows:
    """What a state of first rows holds: ``limit.count`` rows at most (``most``), of which ``least`` have to be there."""

    limit: Limit
    least: int

    @property
    def spare(self) -> int:
        """The most rows beside those that the view shows or passes over."""
        return self.most - self.least

    @property
    def most(self) -> int:
        """The rows that a refill takes."""
        assert self.limit.count is not None, "made with a count"
        return self.limit.count


def first_rows(limit: Limit) -> FirstRows | None:
    """The limit with rows to spare; None where its rows are not told apart by its order, or are too many."""
    if not limit.count or limit.count + limit.offset > MOST_SHOWN:
        return None
    if clock_names(limit.source) or inexact_columns(limit.source) or is_inexact(limit.source):
        return None
    ordered = {item.this.name for item in limit.order if isinstance(item.this, exp.Column)}
    types = types_of(limit.source)
    if not ordered.issuperset(limit.names) or not all(
        _ORDERED.fullmatch(types.get(name) or "") for name in limit.names
    ):
        return None
    least = limit.count + limit.offset
    return FirstRows(replace(limit, count=least + max(least, LEAST_SPARE), offset=0), least)
