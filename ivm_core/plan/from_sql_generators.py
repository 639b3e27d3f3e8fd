"""Functions that make rows (explode, posexplode, inline), in FROM, LATERAL VIEW or SELECT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.clock import join_clock
from ivm_core.plan.nodes import Generate
from ivm_core.plan.scope import Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.types_plan import generated_columns, type_of_argument, types_of

GENERATORS: tuple[type[exp.Expr], ...] = (exp.Explode, exp.Posexplode, exp.Inline)
OUTER_FORMS = (exp.ExplodeOuter, exp.PosexplodeOuter)


def generate(
    source: Relation, call: exp.Expr, labels: tuple[str, ...], qualifier: tuple[str, ...], outer: bool, scope: Scope
) -> Relation:
    """``source`` with the columns that the generator makes of each row; ``scope`` sees the source's fields."""
    if not isinstance(call, GENERATORS):
        raise refusal(f"the generator {call.name or call.key}", call, "Only explode, posexplode and inline are known.")
    # With names of its own: an outer join to the right may leave them NULL.
    clock: dict[str, str] = {}
    bound = resolve(call, replace(scope, clock=clock))
    if bound.find(exp.Placeholder):
        raise refusal("a subquery in a generator", call)
    source = replace(source, plan=join_clock(source.plan, clock, bound))
    outer = outer or isinstance(bound, OUTER_FORMS)
    if isinstance(bound, OUTER_FORMS):
        bound = (exp.Posexplode if isinstance(bound, exp.Posexplode) else exp.Explode)(this=bound.this)
    known = generated_columns(bound, type_of_argument(bound, types_of(source.plan)))
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
    plan = Generate(source.plan, bound, tuple(f.name for f in fields), outer)
    return Relation(plan, (*source.fields, *fields), source.correlated)
