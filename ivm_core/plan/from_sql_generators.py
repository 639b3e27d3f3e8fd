"""Functions that make rows (explode, inline, stack, json_tuple …, range), in FROM, LATERAL VIEW or SELECT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.clock import join_clock
from ivm_core.plan.correlation import take_outer_values
from ivm_core.plan.dialect import number
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import Generate, Values
from ivm_core.plan.rewrite import expect_expression, struct_of
from ivm_core.plan.scope import Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.types import Type, common_type
from ivm_core.plan.types_expression import type_of
from ivm_core.plan.types_plan import generated_columns, type_of_argument, types_of

KNOWN = "Known are explode, posexplode and inline, each with _outer, stack and json_tuple."
RANGE_ROWS = 10_000  # a range is a list of its numbers


def generate(
    source: Relation, call: exp.Expr, labels: tuple[str, ...], qualifier: tuple[str, ...], outer: bool, scope: Scope
) -> Relation:
    """``source`` with the columns that the generator makes of each row; ``scope`` sees the source's fields."""
    # With names of its own: an outer join to the right may leave them NULL.
    clock: dict[str, str] = {}
    bound, inner = expect_expression(call.copy()), replace(scope, clock=clock)
    for argument in list(bound.iter_expressions()):
        argument.replace(resolve(argument, inner))
    if bound.find(exp.Placeholder):
        raise refusal("a subquery in a generator", call)
    source = replace(source, plan=join_clock(source.plan, clock, bound))
    block = Block(scope, source.plan, list(source.correlated))
    [bound] = take_outer_values(block, [bound])
    source = replace(source, plan=block.plan, correlated=tuple(block.correlated))
    types = types_of(source.plan)
    bound, always = _spell(bound, call, types)
    known = generated_columns(bound, type_of_argument(bound, types))
    if known is None and not labels:
        raise complaint(DefinitionError, f"Name the columns that {call.sql('spark')} makes: AS (…).", call, "explode")
    if known is not None and labels and len(known) != len(labels):
        raise complaint(
            DefinitionError, f"{call.sql('spark')} makes {len(known)} columns, not {len(labels)}.", call, "explode"
        )
    names = labels or tuple(name for name, _ in known or ())
    fields = tuple(
        Field(label, scope.context.fresh(label, qualifier[0] if qualifier else ""), qualifier) for label in names
    )
    plan = Generate(source.plan, bound, tuple(f.name for f in fields), outer or always)
    return Relation(plan, (*source.fields, *fields), source.correlated)


def bind_range(call: exp.Expr, scope: Scope) -> Relation:
    """``range(10)``, ``range(2, 10)``, ``range(10, 2, -3)``: a list of numbers in column ``id``."""
    bounds = [_integer(argument, call) for argument in call.expressions[:3]]
    if not bounds:
        raise complaint(DefinitionError, "range() takes an end, or a start, an end and a step.", call, "range")
    if len(bounds) == 3 and bounds[2] == 0:
        raise complaint(DefinitionError, "range() needs a step that is not 0.", call, "range")
    numbers = range(*bounds)
    if len(numbers) > RANGE_ROWS:
        raise refusal(f"range() of more than {RANGE_ROWS} numbers", call, "Store them in a table.")
    name = scope.context.fresh("id")
    plan = Values((name,), ("bigint",), tuple((number(value),) for value in numbers))
    return Relation(plan, (Field("id", name),), one_row=len(numbers) == 1, at_most_one_row=len(numbers) <= 1)


def _spell(call: exp.Expression, written: exp.Expr, types: dict[str, Type | None]) -> tuple[exp.Expression, bool]:
    """The generator without ``_outer``, and whether it had that: then a row that makes none is kept."""
    match sql_name(call):
        case "explode" | "posexplode" | "inline" | "json_tuple":
            return call, False
        case "explode_outer":
            return exp.Explode(this=call.this), True
        case "posexplode_outer":
            return exp.Posexplode(this=call.this), True
        case "inline_outer" if len(call.expressions) == 1:
            return exp.Inline(this=call.expressions[0]), True
        case "stack":
            return _stack(call, written, types), False
    raise refusal(f"the generator {written.name or written.key}", written, KNOWN)


def _stack(call: exp.Expression, written: exp.Expr, types: dict[str, Type | None]) -> exp.Expression:
    """``stack(2, a, b, c)`` → the rows (a, b) and (c, NULL)."""
    rows, values = _integer(written.this, written), call.expressions
    if rows < 1 or not values:
        raise complaint(DefinitionError, "stack() takes a number of rows and their values.", written, "stack")
    width = -(-len(values) // rows)
    padded = [*values, *(exp.null() for _ in range(rows * width - len(values)))]
    kinds = [common_type(*(type_of(value, types) for value in padded[place::width])) for place in range(width)]
    if None in kinds:
        raise refusal("stack() with values of unknown type", written, "CAST them to one type.")
    structs = [
        struct_of(
            (f"col{place}", _typed(value, kind, type_of(value, types)))
            for place, (value, kind) in enumerate(zip(padded[first : first + width], kinds, strict=True))
        )
        for first in range(0, rows * width, width)
    ]
    return exp.Inline(this=exp.Array(expressions=structs))


def _typed(value: exp.Expr, kind: Type | None, own: Type | None) -> exp.Expr:
    return value.copy() if kind is None or own == kind else exp.cast(value.copy(), kind, dialect="spark")


def _integer(node: exp.Expr, call: exp.Expr) -> int:
    bare = node.unnest()
    negative = isinstance(bare, exp.Neg)
    digits = bare.this if isinstance(bare, exp.Neg) else bare
    if not isinstance(digits, exp.Literal) or digits.is_string or not str(digits.this).isdigit():
        raise refusal(f"{sql_name(call)}() of {node.sql('spark')}", call, "Write a whole number.")
    return -int(digits.this) if negative else int(digits.this)
