"""The Spark type of each output column of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    Limit,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    SetOperation,
    UnionAll,
    Values,
    Window,
)
from ivm_core.plan.types import Type, common_type, parse_type, simple_string
from ivm_core.plan.types_expression import type_of

# By the operator's id; the operator is kept beside, so that no other one comes to have it.
_known: dict[int, tuple[Plan, dict[str, Type | None]]] = {}
_MOST = 20_000


def types_of(plan: Plan) -> dict[str, Type | None]:
    """Output column → Spark type, None where it is not certain. Known once for each operator; not to be changed."""
    found = _known.get(id(plan))
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        found = _known[id(plan)] = (plan, _types_of(plan))
    return found[1]


def _types_of(plan: Plan) -> dict[str, Type | None]:
    match plan:
        case Scan(_, columns) | Round(_, columns):
            return {column.name: column.type for column in columns}
        case Changes(_, columns):
            return {**{column.name: column.type for column in columns}, WEIGHT: "bigint"}
        case Values(names, types):
            return {**dict(zip(names, types, strict=True))}
        case Project(source, outputs):
            below = types_of(source)
            return {output.name: type_of(output.expression, below) for output in outputs}
        case Aggregate(source, keys, aggregates):
            below = types_of(source)
            return {output.name: type_of(output.expression, below) for output in (*keys, *aggregates)}
        case Window(source, functions):
            below = types_of(source)
            return below | {function.name: type_of(function.expression, below) for function in functions}
        case Join(left, right):
            both = types_of(left) | types_of(right)
            return {name: both[name] for name in plan.names}
        case Recursive(_, base):
            return types_of(base)
        case UnionAll(sources):
            each = [types_of(source) for source in sources]
            return {name: common_type(*(types[name] for types in each)) for name in plan.names}
        case SetOperation(left, right):
            one, other = types_of(left), types_of(right)
            return {name: common_type(one[name], other[name]) for name in plan.names}
        case Generate(source, generator, outputs):
            below = types_of(source)
            made = generated_columns(generator, type_of_argument(generator, below))
            made_types = (
                [data_type for _, data_type in made] if made and len(made) == len(outputs) else [None] * len(outputs)
            )
            return below | dict(zip(outputs, made_types, strict=True))
        case Filter(source) | Distinct(source) | Limit(source):
            return types_of(source)
        case _:
            assert_never(plan)


def same_types(plans: Iterable[Plan], names: Iterable[str]) -> bool:
    """Whether the named columns certainly have one type each in all plans, so that no cast happens between them."""
    each = [types_of(plan) for plan in plans]
    return all(len({types[name] for types in each}) == 1 and each[0][name] is not None for name in names)


def type_of_argument(generator: exp.Expr, types: dict[str, Type | None]) -> Type | None:
    """The type of the collection that a generator unfolds."""
    return type_of(generator.this, types) if isinstance(generator.this, exp.Expr) else None


def generated_columns(generator: exp.Expr, collection: Type | None) -> tuple[tuple[str, Type | None], ...] | None:
    """The columns a generator makes, under Spark's own names; None where the collection's type must be known and is not."""
    parsed = parse_type(collection) if collection else None
    position = (("pos", "int"),) if isinstance(generator, exp.Posexplode) else ()
    if isinstance(generator, exp.Explode | exp.Posexplode):
        if parsed is None:
            return None
        if parsed.this == exp.DType.MAP:
            key, value = (simple_string(part) for part in parsed.expressions)
            return (*position, ("key", key), ("value", value))
        if parsed.this == exp.DType.ARRAY:
            return (*position, ("col", simple_string(parsed.expressions[0])))
    if isinstance(generator, exp.Anonymous) and str(generator.this).lower() == "json_tuple":
        return tuple((f"c{place}", "string") for place in range(len(generator.expressions) - 1))
    if isinstance(generator, exp.Inline) and parsed is not None and parsed.this == exp.DType.ARRAY:
        return tuple((field.name, simple_string(field.args["kind"])) for field in parsed.expressions[0].expressions)
    return None


def unless_retyped(plan: Plan, rewritten: Plan) -> Plan:
    """The rewritten plan; the first one where columns might get other types by what was left out: '2' is not '2.00'."""
    types = types_of(plan)
    kept = rewritten != plan and None not in types.values() and types_of(rewritten) == types
    return rewritten if kept else plan
