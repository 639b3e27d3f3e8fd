"""Plan → readable text, one operator a line, inputs indented below; ``read_text`` reads it back.

::

    Project revenue = sum_1 * 100
      Aggregate keys=[n_name] aggregates=[sum_1 = SUM(l_extendedprice)]
        Filter o_orderdate >= CAST('1994-01-01' AS DATE)
          Join inner on l_orderkey = o_orderkey
            Scan default.orders before [o_orderkey: bigint, o_orderdate: date]
            Changes default.lineitem [l_orderkey: bigint, l_extendedprice: decimal(15,2)]
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.explain_expressions import spell, spell_name
from ivm_core.plan.nodes import (
    Aggregate,
    At,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    ScanColumn,
    SetOperation,
    UnionAll,
    Values,
    Window,
    sources,
)

INDENT = "  "


def explain(plan: Plan) -> str:
    """The plan as text, the same for equal plans."""
    return "\n".join(_lines(plan, ""))


def fingerprint(plan: Plan) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of the plan's text."""
    return hashlib.sha256(explain(plan).encode()).hexdigest()[:16]


def explain_operator(plan: Plan) -> str:
    """The operator's own line, without its inputs."""
    return " ".join(part for part in (type(plan).__name__, *_details(plan)) if part)


def _lines(plan: Plan, indent: str) -> Iterable[str]:
    yield indent + explain_operator(plan)
    for source in sources(plan):
        yield from _lines(source, indent + INDENT)


def _details(plan: Plan) -> tuple[str, ...]:
    match plan:
        case Scan(table, columns, at):
            return (_table(table), "" if at is At.NOW else at.value, _bracket(_scan_column(c) for c in columns))
        case Changes(table, columns):
            return (_table(table), _bracket(_scan_column(c) for c in columns))
        case Values(names, types, rows):
            header = _bracket(f"{spell_name(name)}: {kind}" for name, kind in zip(names, types, strict=True))
            return (header, f"rows={_bracket(_row(row) for row in rows)}")
        case Project(_, columns):
            return (_named(columns),)
        case Filter(_, condition):
            return (spell(condition),)
        case Join(_, _, kind, condition):
            return (kind.value, f"on {spell(condition)}" if condition is not None else "")
        case UnionAll() | Distinct():
            return ()
        case Recursive(name):
            return (spell_name(name),)
        case Round(name, columns):
            return (spell_name(name), _bracket(_scan_column(c) for c in columns))
        case Aggregate(_, keys, aggregates):
            return (f"keys=[{_named(keys)}]", f"aggregates=[{_named(aggregates)}]")
        case Window(_, functions):
            return (_named(functions),)
        case SetOperation(_, _, kind, all_):
            return (kind.value, "all" if all_ else "")
        case Generate(_, generator, outputs, outer):
            listed = _bracket(spell_name(name) for name in outputs)
            return ("outer" if outer else "", f"outputs={listed}", spell(generator))
        case Limit(_, order, count, offset):
            limit = "all" if count is None else str(count)
            return (limit, f"offset {offset}" if offset else "", f"order={_bracket(spell(key) for key in order)}")
        case _:
            assert_never(plan)


def _table(name: str) -> str:
    # Keywords need no quotes here, and "default" is the commonest schema.
    return ".".join(part if part.isidentifier() else spell_name(part) for part in name.split("."))


def _scan_column(column: ScanColumn) -> str:
    read = "" if column.name == column.source else f" = {spell_name(column.source)}"
    return f"{spell_name(column.name)}{read}: {column.type}"


def _row(row: tuple[exp.Expression, ...]) -> str:
    return f"({', '.join(spell(value) for value in row)})"


def _named(columns: tuple[Named, ...]) -> str:
    return ", ".join(_named_column(column) for column in columns)


def _named_column(column: Named) -> str:
    if isinstance(column.expression, exp.Column) and column.expression.name == column.name:
        return spell_name(column.name)
    return f"{spell_name(column.name)} = {spell(column.expression)}"


def _bracket(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"
