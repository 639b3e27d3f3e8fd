"""Window functions: each becomes a column of a Window operator, one operator per partitioning."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.correlation import outer_row_keys
from ivm_core.plan.from_sql_aggregates import spell_aggregate
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import Named, Window, column, references
from ivm_core.plan.rewrite import expect_expression
from ivm_core.plan.scope import complaint, refusal

_PARTS = ("partition_by", "order", "spec")


def name_windows(expression: exp.Expr, select: exp.Select) -> exp.Expr:
    """``OVER w`` with the definition of ``w`` from the WINDOW clause put in its place."""
    if not any(window.args.get("alias") for window in _own_windows(expression)):
        return expression
    definitions = _definitions(select)
    expression = expression.copy()
    for window in _own_windows(expression):
        alias = window.args.get("alias")
        if alias is None:
            continue
        definition = _defined(alias, definitions)
        for part in _PARTS:
            value = definition.args.get(part)
            if value and not window.args.get(part):
                window.set(part, [item.copy() for item in value] if isinstance(value, list) else value.copy())
        window.set("alias", None)
    return expression


def _own_windows(expression: exp.Expr) -> list[exp.Window]:
    """The windows outside of subqueries, which have WINDOW clauses of their own."""
    nodes = expression.walk(prune=lambda node: isinstance(node, exp.Query))
    return [node for node in nodes if isinstance(node, exp.Window)]


def _definitions(select: exp.Select) -> dict[str, exp.Expr]:
    """The windows of the WINDOW clause by their names."""
    definitions: dict[str, exp.Expr] = {}
    for window in select.args.get("windows") or []:
        name = window.name.lower()
        if name in definitions:
            raise complaint(DefinitionError, f"There are two windows {window.name!r}.", window.this, "WINDOW")
        definitions[name] = window
    return definitions


def _defined(name: exp.Expr, definitions: Mapping[str, exp.Expr]) -> exp.Expr:
    """The definition that a name stands for, where need be by way of other names: ``w AS (…), v AS w``."""
    passed: set[str] = set()
    while True:
        definition = definitions.get(name.name.lower())
        if definition is None:
            raise complaint(DefinitionError, f"There is no window {name.name!r}.", name, "WINDOW")
        other = definition.args.get("alias")
        if other is None:
            return definition
        if any(definition.args.get(part) for part in _PARTS):
            raise refusal("a window that adds to another", definition.this, "Write the whole window.")
        passed.add(name.name.lower())
        if other.name.lower() in passed:
            raise complaint(DefinitionError, f"The window {other.name!r} is defined by itself.", other, "WINDOW")
        name = other


def add_windows(
    block: Block,
    bound: list[exp.Expression],
    qualify: exp.Expression | None,
    sort: list[exp.Expression],
    labels: list[str],
) -> tuple[list[exp.Expression], exp.Expression | None, list[exp.Expression]]:
    """Move the window functions of all expressions below, into Window operators on top of the block's plan.

    In a correlated subquery a window sees the rows that meet the same row around it.
    """
    found: list[Named] = []

    def pull(expression: exp.Expression, label: str = "") -> exp.Expression:
        def swap(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Window):
                return node
            call = _spell(node)
            for known in found:
                if known.expression == call:
                    return column(known.name)
            whole = label if node is expression or node.parent is None else ""
            name = block.scope.context.fresh(whole or node.this.key)
            found.append(Named(name, call))
            return column(name)

        return expect_expression(expression.transform(swap))

    bound = [pull(value, label) for value, label in zip(bound, labels, strict=True)]
    qualify = pull(qualify) if qualify is not None else None
    sort = [pull(item) for item in sort]
    if found and block.correlated:
        keys = outer_row_keys(block)
        found = [Named(named.name, _within(named.expression, keys)) for named in found]
    partitionings = dict.fromkeys(_partition(named) for named in found)
    for partitioning in partitionings:
        functions = tuple(named for named in found if _partition(named) == partitioning)
        for function in functions:
            if not references(function.expression) <= set(block.plan.names):
                raise refusal("an outer reference in a window function", function.expression)
        block.plan = Window(block.plan, functions)
    return bound, qualify, sort


def _within(window: exp.Expression, keys: list[exp.Expression]) -> exp.Expression:
    """The window over those rows only that agree in the keys."""
    window = window.copy()
    window.set("partition_by", [*(window.args.get("partition_by") or ()), *(key.copy() for key in keys)])
    return window


def _partition(named: Named) -> tuple[exp.Expr, ...]:
    return tuple(named.expression.args.get("partition_by") or ())


def _spell(window: exp.Window) -> exp.Expression:
    inner = window.this
    if any(inner.find_all(exp.Window)):
        raise complaint(DefinitionError, "Window functions cannot be nested.", window, "window")
    if isinstance(inner, exp.AggFunc) and isinstance(inner.this, exp.Distinct):
        raise refusal("DISTINCT in a window function", window)
    filtered = inner.find(exp.Filter) is not None
    if not filtered and not isinstance(inner, exp.Any | exp.Anonymous | exp.WithinGroup):
        return window
    call = spell_aggregate(expect_expression(inner))
    if filtered and isinstance(call, exp.RespectNulls):
        raise refusal(f"{sql_name(call.this)}() with FILTER in a window function", window, "Add IGNORE NULLS.")
    spelled = window.copy()
    spelled.set("this", call.copy())
    return spelled
