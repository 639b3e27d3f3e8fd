"""Minimise a wrong case: the smallest query and trace found that still give another answer than the query itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

from sqlglot import exp, parse_one

from ivm_core.plan.clock import CLOCK
from ivm_core.plan.dialect import SparkAsWritten
from tests.fuzz.tables import TABLES, State

Edit = Callable[[exp.Expr, exp.Expr], str]  # of a node and the tree that it is in, to the text
IsWrong = Callable[[str, list[State]], bool]
_CLAUSES = ("where", "having", "qualify", "order", "limit", "offset", "distinct", "group", "with_")


def shrink(sql: str, trace: list[State], is_wrong: IsWrong, tries: int = 2000) -> tuple[str, list[State]]:
    """Drop batches, rows and parts of the query, one at a time, as long as the case stays wrong."""
    left = tries

    def still(candidate: str, states: list[State]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and is_wrong(candidate, states)

    while left > 0:
        fewer = next((states for states in _smaller_traces(trace) if still(sql, states)), None)
        if fewer is not None:
            trace = fewer
            continue
        shorter = next((text for text in _smaller_queries(sql) if still(text, trace)), None)
        if shorter is None:
            break
        sql = shorter
    return sql, trace


def reproducer(sql: str, trace: list[State]) -> str:
    """The case as text: the query, then the rows of each state."""
    lines = [sql + ";"]
    for number, state in enumerate(trace):
        lines.append(f"-- {'first' if number == 0 else f'after batch {number}'}")
        shown = {name: rows for name, rows in state.items() if name != CLOCK or "current_" in sql.lower()}
        lines += [f"--   {name}: {list(rows)}" for name, rows in shown.items() if rows]
    return "\n".join(lines)


def _smaller_traces(trace: list[State]) -> Iterator[list[State]]:
    for place in range(len(trace)):
        if len(trace) > 1:
            yield trace[:place] + trace[place + 1 :]
    for place, (earlier, state) in enumerate(pairwise(trace), start=1):
        if state[CLOCK] is not earlier[CLOCK]:
            yield [*trace[:place], {**state, CLOCK: earlier[CLOCK]}, *trace[place + 1 :]]
    for place, state in enumerate(trace):
        for name in TABLES:
            for row in range(len(state[name])):
                rows = state[name][:row] + state[name][row + 1 :]
                # Later states that share the rows go on doing so: the table is then no part of the batch.
                yield [
                    {**each, name: rows} if at >= place and each[name] is state[name] else each
                    for at, each in enumerate(trace)
                ]


def _smaller_queries(sql: str) -> Iterator[str]:
    tree = parse_one(sql, read=SparkAsWritten)
    seen = {sql}
    for at, node in enumerate(tree.walk()):
        for edit in _edits(node):
            copy = tree.copy()
            text = edit(list(copy.walk())[at], copy)
            if len(text) < len(sql) and text not in seen:
                seen.add(text)
                yield text


def _edits(node: exp.Expr) -> Iterator[Edit]:
    """What may be done to a node; each is done to the same node of a copy."""
    for child in _replacements(node):
        yield partial(_replaced, child)
    if isinstance(node, exp.Select):
        yield from (partial(_without, clause) for clause in _CLAUSES if node.args.get(clause))
        for listed in ("expressions", "joins", "laterals"):
            yield from (partial(_popped, listed, place) for place in range(len(node.args.get(listed) or [])))


def _replacements(node: exp.Expr) -> list[exp.Expr]:
    """What a node may become: one of its parts, or a constant."""
    match node:
        case exp.SetOperation():
            return [node.left, node.right]
        case exp.And() | exp.Or():
            return [node.left, node.right]
        case exp.Paren() | exp.Not() | exp.Cast():
            return [node.this]
        case exp.Case() | exp.If() | exp.Func() | exp.Binary() if not isinstance(node, exp.Dot):
            parts = [part for part in node.iter_expressions() if isinstance(part, exp.Condition)]
            return [*parts[:3], exp.Literal.number(1)]
        case _:
            return []


def _replaced(by: exp.Expr, node: exp.Expr, tree: exp.Expr) -> str:
    if node is tree:
        return by.sql("spark")
    node.replace(by.copy())
    return tree.sql("spark")


def _without(clause: str, select: exp.Expr, tree: exp.Expr) -> str:
    select.set(clause, None)
    return tree.sql("spark")


def _popped(listed: str, place: int, select: exp.Expr, tree: exp.Expr) -> str:
    items = list(select.args[listed])
    del items[place]
    select.set(listed, items)
    return tree.sql("spark")
