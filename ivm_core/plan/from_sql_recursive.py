"""WITH RECURSIVE: a base, and a step that reads the round before."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.nodes import (
    Aggregate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    ScanColumn,
    SetOperation,
    Window,
    column,
    operators,
    sources,
)
from ivm_core.plan.scope import Cte, Field, Relation, complaint, refusal
from ivm_core.plan.types_plan import types_of

_HIDDEN_FROM = {
    JoinKind.LEFT: ("right",),
    JoinKind.SEMI: ("right",),
    JoinKind.ANTI: ("right",),
    JoinKind.RIGHT: ("left",),
    JoinKind.FULL: ("left", "right"),
    JoinKind.INNER: (),
}


def names_itself(item: exp.CTE) -> bool:
    """Whether a common table expression reads its own name."""
    return _reads(item.this, item.alias.lower())


def bind_recursive(label: str, cte: Cte) -> Relation:
    """The recursion of a common table expression, bound anew wherever it is used. Raises what Spark refuses as well."""
    query, scope = cte.query, cte.scope
    if not isinstance(query, exp.Union) or query.args.get("distinct") or query.args.get("by_name"):
        raise refusal("WITH RECURSIVE without UNION ALL", query, "Write base UNION ALL step.")
    if any(query.args.get(part) for part in ("order", "limit", "offset", "with_")) or _reads(query.left, label):
        raise refusal("WITH RECURSIVE of another form than base UNION ALL step", query)
    context = scope.context
    base = context.bind(query.left, scope)
    labels = cte.labels or tuple(f.label for f in base.fields)
    if len(labels) != len(base.fields):
        message = f"{label!r} lists {len(labels)} columns for {len(base.fields)}."
        raise complaint(DefinitionError, message, query)
    names = tuple(context.fresh(text, label) for text in labels)
    start = _under(base, names, query)
    types = types_of(start)
    unknown = next((text for text, name in zip(labels, names, strict=True) if types[name] is None), None)
    if unknown is not None:
        raise refusal(f"WITH RECURSIVE with column {unknown} of unknown type", query, "CAST it in the first SELECT.")
    name = context.recursion(label)
    rounds = Round(name, tuple(ScanColumn(n, n, types[n] or "") for n in names))
    inner = replace(scope, ctes={**scope.ctes, label: replace(cte, labels=labels, rounds=rounds)})
    made = context.bind(query.right, inner)
    if len(made.fields) != len(names):
        raise complaint(DefinitionError, f"The two sides of {label!r} differ in their columns.", query, "UNION")
    step = _under(made, names, query)
    _check_places(step, name, query)
    fields = tuple(Field(text, n, (label,)) for text, n in zip(labels, names, strict=True))
    return Relation(Recursive(name, start, step), fields)


def bind_round(label: str, cte: Cte, rounds: Round) -> Relation:
    """The recursion's own name inside its step: the rows of the round before."""
    context = cte.scope.context
    columns = tuple(
        replace(c, name=context.fresh(text, label)) for c, text in zip(rounds.columns, cte.labels, strict=True)
    )
    fields = tuple(Field(text, c.name, (label,)) for c, text in zip(columns, cte.labels, strict=True))
    return Relation(Round(rounds.name, columns), fields)


def _under(relation: Relation, names: tuple[str, ...], query: exp.Expr) -> Plan:
    if relation.correlated or relation.values:
        raise refusal("an outer reference in WITH RECURSIVE", query)
    return Project(
        relation.plan, tuple(Named(name, column(f.name)) for name, f in zip(names, relation.fields, strict=True))
    )


def _check_places(plan: Plan, name: str, query: exp.Expr) -> None:
    """Each round adds to what came before: a step may not ask for all the rows of one at once."""
    match plan:
        case Aggregate() | Window() | Limit() | SetOperation() | Recursive() if _has_round(plan, name):
            raise refusal(f"the recursion {name} below {type(plan).__name__} in its own step", query)
        case Join(_, _, kind) if any(_has_round(getattr(plan, side), name) for side in _HIDDEN_FROM[kind]):
            what = f"{name} on this side of a {kind.value.upper()} JOIN, or in a subquery, in its own step"
            raise refusal(f"the recursion {what}", query)
    for source in sources(plan):
        _check_places(source, name, query)


def _has_round(plan: Plan, name: str) -> bool:
    return any(isinstance(node, Round) and node.name == name for node in operators(plan))


def _reads(query: exp.Expr, label: str) -> bool:
    return any(not table.db and table.name.lower() == label for table in query.find_all(exp.Table))
