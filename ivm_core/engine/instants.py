"""The instants of a batch, put into the SQL of a job in place of its parameters."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.apply.names import number
from ivm_core.batch.model import Batch
from ivm_core.delta.clock import PARAMETERS
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.nodes import At


def instants_of(batch: Batch) -> dict[str, exp.Expr]:
    """The parameters of a job that tells the time: name → TIMESTAMP literal; none where the view reads no clock."""
    for item in batch.ranges:
        if item.table == CLOCK:
            ends = {At.BEFORE: item.from_version, At.AFTER: item.to_version}
            return {name: _timestamp(ends[at]) for at, name in PARAMETERS.items()}
    return {}


def fill(query: exp.Expr, parameters: Mapping[str, exp.Expr]) -> exp.Expr:
    """The query with parameters replaced.

    >>> from sqlglot import parse_one
    >>> fill(parse_one("SELECT :a, b", dialect="spark"), {"a": number(1)}).sql()
    'SELECT 1, b'
    """
    if not parameters:
        return query

    def swap(node: exp.Expr) -> exp.Expr:
        found = parameters.get(str(node.this)) if isinstance(node, exp.Placeholder) else None
        return node if found is None else found.copy()

    return query.transform(swap)


def _timestamp(version: int) -> exp.Expr:
    return exp.Anonymous(this="timestamp_micros", expressions=[number(version)])
