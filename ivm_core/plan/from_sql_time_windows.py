"""window(time, duration): the time windows that hold a row, as columns below the SELECT that names them.

As in Spark, the rows of a SELECT with a window are those with a time, each once for every window that holds it; the
windows are called ``window``.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.dialect import number, spark_call
from ivm_core.plan.nodes import Filter, Generate, Named, Project, column, keep
from ivm_core.plan.rewrite import expect_expression, struct_of
from ivm_core.plan.scope import Field, complaint, refusal, resolve
from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import types_of

_CLAUSES = ("group", "having", "qualify", "order")
_MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 604_800_000_000,
}


def place_windows(
    select: exp.Select, items: list[tuple[str | None, exp.Expr]], block: Block
) -> tuple[exp.Select, list[tuple[str | None, exp.Expr]]]:
    """The SELECT and its items with window() replaced by a column that is added to the block's plan."""
    clauses = [clause for name in _CLAUSES if (clause := select.args.get(name)) is not None]
    found = dict.fromkeys(call for part in (*(item for _, item in items), *clauses) for call in _windows(part))
    if not found:
        return select, items
    call, *others = found
    if others:
        raise refusal("more than one time window in a SELECT", others[0], "Use a subquery for each.")
    place = _add(block, call)

    def swap(node: exp.Expr) -> exp.Expr:
        return place.copy() if node == call else node

    select = select.copy()
    for name in _CLAUSES:
        if select.args.get(name) is not None:
            select.set(name, select.args[name].transform(swap))
    named = [(label or ("window" if item.unnest() == call else None), item.transform(swap)) for label, item in items]
    return select, named


def _windows(expression: exp.Expr) -> list[exp.Expression]:
    """The window() calls of an expression, but not those of its subqueries."""
    return [
        expect_expression(node)
        for node in expression.walk(prune=lambda n: isinstance(n, exp.Query))
        if isinstance(node, exp.Anonymous) and str(node.this).lower() == "window"
    ]


def _add(block: Block, call: exp.Expression) -> exp.Column:
    """Make the windows of ``call`` a column of the block's plan; returns how the SELECT's expressions can name it."""
    context = block.scope.context
    arguments = call.expressions
    if not 2 <= len(arguments) <= 4:
        raise complaint(DefinitionError, "window() takes a time, a duration, a slide and a start.", call, "window")
    duration = _microseconds(arguments[1], call)
    slide = _microseconds(arguments[2], call) if len(arguments) > 2 else duration
    start = _microseconds(arguments[3], call) if len(arguments) > 3 else 0
    if not 0 < slide <= duration or abs(start) >= slide:
        raise complaint(DefinitionError, "window() needs |start| < slide <= duration.", call, "window")
    time = expect_expression(resolve(arguments[0], block.scope))
    if time.find(exp.Placeholder):
        raise refusal("a subquery in window()", call)
    kind = type_of(time, types_of(block.plan))
    if kind not in ("timestamp", "date", "string"):
        raise refusal(f"window() over {kind or 'an unknown type'}", call, "CAST the time AS TIMESTAMP.")
    if kind != "timestamp":
        time = exp.cast(time, "timestamp", dialect="spark")
    at, since, name = (context.fresh(label) for label in ("microseconds", "window_start", "window"))
    names = block.plan.names
    plan = Project(block.plan, (*keep(names), Named(at, spark_call("unix_micros", time))))
    present = Filter(plan, exp.Not(this=exp.Is(this=column(at), expression=exp.null())))
    latest: exp.Expression = column(at) - spark_call("pmod", column(at) - number(start), number(slide))
    if slide < duration:
        step = context.fresh("step")
        steps = exp.Array(expressions=[number(i * slide) for i in range(-(-duration // slide))])
        made = Generate(present, exp.Explode(this=steps), (step,))
        holds = Project(made, (*keep((*names, at)), Named(since, latest - column(step))))
        rows: Filter | Project = holds
        if duration % slide:
            rows = Filter(holds, exp.LT(this=column(at), expression=column(since) + number(duration)))
    else:
        rows = Project(present, (*keep(names), Named(since, latest)))
    bounds = {"start": column(since), "end": column(since) + number(duration)}
    struct = struct_of((label, spark_call("timestamp_micros", micros)) for label, micros in bounds.items())
    block.plan = Project(rows, (*keep(names), Named(name, struct)))
    hidden = f"#{name}"
    fields = (*block.scope.fields, Field(hidden, name))
    if not any(f.label.lower() == "window" and f.starred for f in fields):
        fields = (*fields, Field("window", name))
    block.scope = replace(block.scope, fields=fields)
    return exp.column(exp.to_identifier(hidden, quoted=True))


def _microseconds(duration: exp.Expr, call: exp.Expr) -> int:
    """``'1 hour 30 minutes'``; Spark allows nothing that is longer than a week, or of no fixed length."""
    words = duration.name.lower().split() if isinstance(duration, exp.Literal) and duration.is_string else []
    if words[:1] == ["interval"]:
        words = words[1:]
    total = 0
    for amount, unit in zip(words[::2], words[1::2], strict=False):
        size = _MICROSECONDS.get(unit.removesuffix("s"))
        if size is None or not amount.removeprefix("-").isdigit():
            break
        total += int(amount) * size
    else:
        if words and len(words) % 2 == 0:
            return total
    raise refusal(f"window() with {duration.sql('spark')}", call, "Write durations like '90 minutes'.")
