"""What sqlglot's translation from Spark to DuckDB leaves out."""

from __future__ import annotations

from sqlglot import exp

from ivm_core.plan.raising import is_raise
from ivm_core.plan.rewrite import value_where
from ivm_core.plan.types import suffixed


def adapt_to_duckdb(query: exp.Query) -> None:
    """Change the query in place.

    LATERAL VIEW OUTER becomes LEFT JOIN LATERAL (SELECT UNNEST(…)) ON TRUE, posexplode a subquery too, raise_error error,
    and count_if(p) count(CASE WHEN p THEN 1 END): DuckDB's count_if of NULLs alone is NULL. Days added to a date make a date.
    max_by takes rows whose value is NULL too, and of several modes the least comes first in order.
    """
    for written in list(query.find_all(exp.Var)):
        known = suffixed(written)
        if known is not None:
            written.replace(exp.cast(exp.Literal.number(known[0]), known[1], dialect="spark"))
    for added in reversed(list(query.find_all(exp.TsOrDsAdd, exp.AddMonths))):
        added.replace(exp.cast(added.copy(), "date"))
    for call in list(query.find_all(exp.Anonymous)):
        if is_raise(call):
            call.set("this", "error")
    for chosen in list(query.find_all(exp.ArgMax, exp.ArgMin)):
        name = "arg_max_null" if isinstance(chosen, exp.ArgMax) else "arg_min_null"
        chosen.replace(exp.Anonymous(this=name, expressions=[chosen.this, chosen.expression]))
    for mode in list(query.find_all(exp.Mode)):
        if mode.args.get("deterministic") is not None:
            ordered = exp.Order(this=mode.this.copy(), expressions=[exp.Ordered(this=mode.this.copy())])
            mode.replace(exp.Mode(this=ordered))
    for counted in list(query.find_all(exp.CountIf)):
        counted.replace(exp.Count(this=value_where(counted.this, exp.Literal.number(1))))
    for select in list(query.find_all(exp.Select)):
        views = select.args.get("laterals") or []
        if any(view.args.get("outer") or isinstance(view.this, exp.Posexplode) for view in views):
            select.set("laterals", None)
            for view in views:
                select.append("joins", _join_lateral(view))


def _join_lateral(view: exp.Lateral) -> exp.Join:
    generator, alias = view.this, view.args["alias"]
    names = [identifier.copy() for identifier in alias.args["columns"]]
    columns: list[exp.Identifier] = []
    if isinstance(generator, exp.Posexplode):
        rows = _positions(generator, names)
    elif isinstance(generator, exp.Explode) and len(names) == 1:
        rows = exp.select(exp.alias_(exp.Explode(this=generator.this.copy()), names[0]))
    elif isinstance(generator, exp.Inline):
        depth = exp.Kwarg(this=exp.var("max_depth"), expression=exp.Literal.number(2))
        rows, columns = exp.select(exp.func("UNNEST", generator.this.copy(), depth)), names
    else:
        raise NotImplementedError(f"{generator.sql('spark')} has no translation to DuckDB")
    lateral = exp.Lateral(this=rows.subquery(), alias=exp.TableAlias(this=alias.this.copy(), columns=columns))
    if view.args.get("outer"):
        return exp.Join(this=lateral, side="LEFT", on=exp.true())
    return exp.Join(this=lateral, kind="CROSS")


def _positions(generator: exp.Expr, names: list[exp.Identifier]) -> exp.Select:
    position, value = names
    source = exp.Unnest(
        expressions=[generator.this.copy()],
        alias=exp.TableAlias(this=exp.to_identifier("positions"), columns=[value]),
        offset=position,
    )
    first = exp.alias_(exp.column(position.copy()) - 1, position.copy())
    return exp.select(first, exp.column(value.copy())).from_(source)
