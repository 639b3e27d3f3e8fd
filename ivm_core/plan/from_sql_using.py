"""JOIN … USING and NATURAL JOIN: columns that both sides share, and come once."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import UnknownColumnError
from ivm_core.plan.nodes import Join, JoinKind, Named, Project, column, keep
from ivm_core.plan.rewrite import both
from ivm_core.plan.scope import Field, Relation, Scope, complaint


def join_using(
    left: Relation, right: Relation, kind: JoinKind, using: tuple[str, ...], node: exp.Join, scope: Scope
) -> Relation:
    """USING and NATURAL: the shared columns come once, first, from the side that is always there; FULL JOIN takes either.

    The other side's can be named with its qualifier only, and ``u.*`` begins with them, as in Spark.
    """
    pairs = [(_first(left, label, node), _first(right, label, node)) for label in using]
    condition = both(*(exp.EQ(this=column(one.name), expression=column(other.name)) for one, other in pairs))
    plan: Join | Project = Join(left.plan, right.plan, kind, condition)
    ones, others = tuple(one for one, _ in pairs), tuple(other for _, other in pairs)
    shared, hidden = ones, others
    match kind:
        case JoinKind.SEMI | JoinKind.ANTI:
            right, hidden = replace(right, fields=()), ()
        case JoinKind.RIGHT:
            shared, hidden = others, ones
        case JoinKind.FULL:
            either = tuple(
                Named(
                    scope.context.fresh(one.label),
                    exp.Coalesce(this=column(one.name), expressions=[column(other.name)]),
                )
                for one, other in pairs
            )
            plan = Project(plan, (*either, *keep(plan.names)))
            shared = tuple(Field(one.label, named.name) for one, named in zip(ones, either, strict=True))
            hidden = (*ones, *others)
    rest = (f for f in (*left.fields, *right.fields) if f not in (*ones, *others))
    fields = (*shared, *(replace(f, starred=False) for f in hidden), *rest)
    return Relation(plan, fields, (*left.correlated, *right.correlated))


def _first(relation: Relation, label: str, node: exp.Join) -> Field:
    """The first column of that name, as in Spark; a join before it, with ON, may leave several."""
    found = next((f for f in relation.fields if f.starred and f.label.lower() == label.lower()), None)
    if found is None:
        raise complaint(UnknownColumnError, f"The USING column {label!r} is missing on one side of the join.", node)
    return found
