"""Functions that users registered in Spark: nothing in a query's text tells which of them aggregate."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from ivm_core.plan.names import name_problem


def parse_functions(text: str) -> tuple[str, ...] | None:
    """``'my_avg, My_Mode'`` → ``("my_avg", "my_mode")``; None for what is no list of names."""
    names = tuple(name.strip().lower() for name in text.split(","))
    return names if not any(name_problem(name) for name in names) else None


def mark_aggregates(query: exp.Expression, names: Collection[str]) -> None:
    """Make the calls of these functions aggregates, in place: they are recomputed for the groups that changed."""
    for call in list(query.find_all(exp.Anonymous)):
        if str(call.this).lower() in names:
            marked = exp.AnonymousAggFunc(this=call.this, expressions=call.expressions)
            marked.meta.update(call.meta)
            call.replace(marked)
