"""Readable text → plan: the inverse of ``explain``."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ivm_core.plan.explain import INDENT
from ivm_core.plan.explain_expressions import read_expression, read_ordering
from ivm_core.plan.explain_words import Words
from ivm_core.plan.nodes import (
    Aggregate,
    At,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    ScanColumn,
    SetKind,
    SetOperation,
    UnionAll,
    Values,
    Window,
    column,
)


class PlanTextError(ValueError):
    """A text that is no plan; ``line`` is the offending line, its ``number`` counts from 1."""

    def __init__(self, problem: str, line: str, number: int) -> None:
        super().__init__(f"{problem} (line {number}: {line.strip()})")
        self.line = line
        self.number = number


def read_text(text: str) -> Plan:
    """The plan that ``explain`` wrote as this text. Raises PlanTextError.

    >>> read_text("Filter a > 1\\n  Scan default.t [a: int]").names
    ('a',)
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise PlanTextError("no operator", "", 1)
    plan, rest = _read_operator(lines, _depth(lines[0][1]))
    if rest:
        raise PlanTextError("a second root, or an indentation that fits no operator", rest[0][1], rest[0][0])
    return plan


def _read_operator(lines: list[tuple[int, str]], depth: int) -> tuple[Plan, list[tuple[int, str]]]:
    (number, line), rest = lines[0], lines[1:]
    inputs: list[Plan] = []
    deeper = depth + len(INDENT)
    while rest and _depth(rest[0][1]) == deeper:
        source, rest = _read_operator(rest, deeper)
        inputs.append(source)
    try:
        words = Words(line)
        plan = _build(words, inputs)
        words.end()
    except PlanTextError:
        raise
    except (ValueError, SqlglotError) as problem:
        raise PlanTextError(str(problem), line, number) from problem
    return plan, rest


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _build(words: Words, inputs: list[Plan]) -> Plan:
    operator = words.name()
    match operator, inputs:
        case "Scan", []:
            table = words.table()
            at = next((at for at in At if words.accept(at.value)), At.NOW)
            return Scan(table, _scan_columns(words), at)
        case "Changes", []:
            return Changes(words.table(), _scan_columns(words))
        case "Values", []:
            columns = _scan_columns(words)
            rows = words.labelled("rows", lambda row: words.read_each(row.bracket(), _expression))
            return Values(tuple(c.name for c in columns), tuple(c.type for c in columns), rows)
        case "Project", [source]:
            return Project(source, words.read_each(words.items(), _named))
        case "Filter", [source]:
            return Filter(source, _expression(words))
        case "Join", [left, right]:
            kind = JoinKind(words.name())
            return Join(left, right, kind, _expression(words) if words.accept("on") else None)
        case "UnionAll", _:
            return UnionAll(tuple(inputs))
        case "Aggregate", [source]:
            return Aggregate(source, words.labelled("keys", _named), words.labelled("aggregates", _named))
        case "Distinct", [source]:
            return Distinct(source)
        case "Window", [source]:
            return Window(source, words.read_each(words.items(), _named))
        case "SetOperation", [left, right]:
            return SetOperation(left, right, SetKind(words.name()), words.accept("all"))
        case "Generate", [source]:
            outer = words.accept("outer")
            outputs = words.labelled("outputs", Words.name)
            return Generate(source, _expression(words), outputs, outer)
        case "Recursive", [base, step]:
            return Recursive(words.name(), base, step)
        case "Round", []:
            return Round(words.name(), _scan_columns(words))
        case "Limit", [source]:
            count = None if words.accept("all") else int(words.name())
            offset = int(words.name()) if words.accept("offset") else 0
            return Limit(source, words.labelled("order", _ordering), count, offset)
        case _:
            raise ValueError(f"no operator {operator} with {len(inputs)} inputs")


def _scan_columns(words: Words) -> tuple[ScanColumn, ...]:
    return words.read_each(words.bracket(types=True), _scan_column)


def _scan_column(item: Words) -> ScanColumn:
    name = item.name()
    source = item.name() if item.accept("=") else name
    item.expect(":")
    return ScanColumn(name, source, item.rest())


def _named(item: Words) -> Named:
    name = item.name()
    return Named(name, _expression(item) if item.accept("=") else column(name))


def _expression(words: Words) -> exp.Expression:
    return read_expression(words.rest())


def _ordering(words: Words) -> exp.Expression:
    return read_ordering(words.rest())
