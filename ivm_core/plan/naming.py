"""Readable plan column names: a column's own name where it is the only one, else with its table's alias, else numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.lambdas import rename_parameters
from ivm_core.plan.nodes import (
    Aggregate,
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
    column,
    walk,
)
from ivm_core.plan.rewrite import expect_expression


def name_columns(plan: Plan, hints: Mapping[str, tuple[str, str]]) -> tuple[Plan, dict[str, str]]:
    """Replace provisional names by readable ones. ``hints``: provisional name → (label, table alias).

    Returns the plan and the new name of each old one. Names differ without regard to case over the whole plan.
    """
    present = tuple(dict.fromkeys(name for node in walk(plan) for name in node.names if name in hints))
    names = _choose([(name, *hints[name]) for name in present])
    return rename(plan, names, _visible(plan, names, hints)), names


def rename(plan: Plan, names: Mapping[str, str], taken: frozenset[str] = frozenset()) -> Plan:
    """The plan with its columns renamed throughout; names that are not mapped stay.

    ``taken``: names in lower case that no parameter of a lambda function may have, as it would hide what they name.
    """

    def scan(columns: tuple[ScanColumn, ...]) -> tuple[ScanColumn, ...]:
        return tuple(replace(item, name=names.get(item.name, item.name)) for item in columns)

    def read(columns: tuple[ScanColumn, ...]) -> tuple[ScanColumn, ...]:
        return tuple(replace(item, source=names.get(item.source, item.source)) for item in columns)

    def name(columns: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(item, item) for item in columns)

    def scalar(expression: exp.Expression) -> exp.Expression:
        return rename_parameters(_rename_references(expression, names), taken)

    def named(columns: tuple[Named, ...]) -> tuple[Named, ...]:
        return tuple(Named(names.get(item.name, item.name), scalar(item.expression)) for item in columns)

    match plan:
        case Scan() | Changes():
            return replace(plan, columns=scan(plan.columns))
        case Values():
            return replace(plan, names=name(plan.names))
        case Recursive(label, base, step):
            return Recursive(label, rename(base, names, taken), rename(step, names, taken))
        case Round(label, columns):
            return Round(label, read(scan(columns)))
        case Project(source, columns):
            return Project(rename(source, names, taken), named(columns))
        case Filter(source, condition):
            return Filter(rename(source, names, taken), scalar(condition))
        case Join(left, right, kind, on):
            return Join(
                rename(left, names, taken), rename(right, names, taken), kind, scalar(on) if on is not None else None
            )
        case UnionAll(sources):
            return UnionAll(tuple(rename(source, names, taken) for source in sources))
        case Aggregate(source, keys, aggregates):
            return Aggregate(rename(source, names, taken), named(keys), named(aggregates))
        case Distinct(source):
            return Distinct(rename(source, names, taken))
        case Window(source, functions):
            return Window(rename(source, names, taken), named(functions))
        case SetOperation(left, right, kind, bag):
            return SetOperation(rename(left, names, taken), rename(right, names, taken), kind, bag)
        case Generate(source, generator, outputs, outer):
            return Generate(rename(source, names, taken), scalar(generator), name(outputs), outer)
        case Limit(source, order, count, offset):
            return Limit(rename(source, names, taken), tuple(scalar(item) for item in order), count, offset)
        case _:
            assert_never(plan)


def _visible(plan: Plan, names: Mapping[str, str], hints: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    """All names, in lower case, that the plan's SQL may call a column or a relation by."""
    leaves = [node for node in walk(plan) if isinstance(node, Scan | Changes)]
    sources = (item.source for leaf in leaves for item in leaf.columns)
    tables = (leaf.table.rpartition(".")[2] for leaf in leaves)
    labels = (part for hint in hints.values() for part in hint)
    return frozenset(name.lower() for name in (*names.values(), *sources, *tables, *labels))


def _rename_references(expression: exp.Expression, names: Mapping[str, str]) -> exp.Expression:
    return expect_expression(
        expression.transform(
            lambda node: column(names[node.name]) if isinstance(node, exp.Column) and node.name in names else node
        )
    )


def _choose(columns: list[tuple[str, str, str]]) -> dict[str, str]:
    labels = Counter(label.lower() for _, label, _ in columns)
    taken: set[str] = set()
    chosen: dict[str, str] = {}
    # First those that keep their own name, so that no combined name can take it.
    for name, label, _ in columns:
        if labels[label.lower()] == 1:
            chosen[name] = label
            taken.add(label.lower())
    for name, label, alias in columns:
        if name not in chosen:
            stem = f"{alias}_{label}" if alias else label
            candidate, number = stem, 2
            while candidate.lower() in taken or (candidate.lower() in labels and candidate.lower() != label.lower()):
                candidate, number = f"{stem}_{number}", number + 1
            chosen[name] = candidate
            taken.add(candidate.lower())
    return chosen
