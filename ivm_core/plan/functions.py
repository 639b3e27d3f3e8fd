"""Which functions are no values of a row: those that make rows, differ from run to run, or run code."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.dialect import number, spark_call

GENERATORS = frozenset(
    [
        "explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack", "json_tuple",
        "variant_explode", "variant_explode_outer",
    ]
)  # fmt: skip


def sql_name(node: exp.Expr) -> str:
    """The name that a function is called by, in lower case; empty for what is no function."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def is_generator(node: exp.Expr) -> bool:
    """Whether a node is the call of a function that makes any number of rows of one."""
    return (isinstance(node, exp.UDTF) and not isinstance(node, exp.Query)) or sql_name(node) in GENERATORS


def spell_function(node: exp.Expr) -> exp.Expr:
    """``window_time(w)`` → the last microsecond of ``w``: Spark knows its own windows only. Others stay as they are."""
    if sql_name(node) != "window_time" or len(node.expressions) != 1:
        return node
    end = exp.Dot(this=node.expressions[0].copy(), expression=exp.to_identifier("end"))
    return spark_call("timestamp_micros", spark_call("unix_micros", end) - number(1))
