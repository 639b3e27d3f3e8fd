"""The query as it was written, in DuckDB: translated by sqlglot, no part of the compiler has touched it."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb
from tests.fuzz.pivots import without_pivots
from tests.job.duckdb_jobs import AFTER, stored

# Written here anew, so that a wrong reading of the compiler's is seen.
_TIMES: dict[type[exp.Expr], str] = {exp.CurrentDate: "date", exp.CurrentTimestamp: "timestamp"}


def oracle(written: exp.Query) -> str:
    """The query over the tables as they are after a batch, at the instant ``$clock_after``."""
    tree = written.copy()
    for node in list(tree.find_all(*_TIMES)):
        instant = exp.Placeholder(this="clock_after")
        node.replace(exp.cast(instant, _TIMES[type(node)]))
    without_pivots(tree)
    adapt_to_duckdb(tree)
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and any(
            isinstance(e, exp.Rollup | exp.Cube | exp.GroupingSets) for e in group.expressions
        ):
            # Of no rows, Spark makes no grand total.
            select.having(exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0)), copy=False)
    for table in tree.find_all(exp.Table):
        if table.db == "f":
            name = stored(f"f.{table.name}", AFTER)
            table.set("db", None)
            table.set("this", exp.to_identifier(name))
    return tree.sql(dialect="duckdb")
