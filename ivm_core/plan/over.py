"""Window functions as they are written: ``f OVER (PARTITION BY … ORDER BY … ROWS BETWEEN … AND …)``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

# The ends of a frame.
ALL_BEFORE, HERE, ALL_AFTER = "UNBOUNDED PRECEDING", "CURRENT ROW", "UNBOUNDED FOLLOWING"


def over(
    call: exp.Expression,
    partition: Sequence[exp.Expression] = (),
    order: Sequence[exp.Expression] = (),
    rows: exp.Expr | None = None,
) -> exp.Window:
    """The function over the rows of a partition, in an order (``exp.Ordered``), of which those of a frame.

    >>> over(exp.Max(this=exp.column("a")), [exp.column("k")], rows=rows_between(ALL_BEFORE, "1 PRECEDING")).sql("spark")
    'MAX(a) OVER (PARTITION BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)'
    """
    return exp.Window(
        this=call.copy(),
        partition_by=[part.copy() for part in partition],
        order=exp.Order(expressions=[item.copy() for item in order]) if order else None,
        spec=rows.copy() if rows is not None else None,
        over="OVER",
    )


def rows_between(start: str, end: str) -> exp.WindowSpec:
    """ROWS BETWEEN start AND end."""
    ends: dict[str, str | None] = {}
    for name, words in (("start", start), ("end", end)):
        bound, _, side = words.partition(" ") if words != HERE else (words, "", None)
        ends |= {name: bound, f"{name}_side": side}
    return exp.WindowSpec(kind="ROWS", **ends)
