"""One SELECT block: FROM, WHERE, GROUP BY, HAVING, windows, QUALIFY, projection, DISTINCT, ORDER BY with LIMIT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.clock import join_clock
from ivm_core.plan.correlation import join_outer_values, keep_empty_groups, sides_of, take_outer_values
from ivm_core.plan.from_sql_aggregates import has_aggregate
from ivm_core.plan.from_sql_generated_groups import generate_over_groups
from ivm_core.plan.from_sql_groups import Groups, bind_keys
from ivm_core.plan.from_sql_having import take_outer_aggregates
from ivm_core.plan.from_sql_items import Item, bind_items, expand_items
from ivm_core.plan.from_sql_order import bind_limit, order_items, ordinal, row_count
from ivm_core.plan.from_sql_tables import bind_from
from ivm_core.plan.from_sql_time_windows import place_windows
from ivm_core.plan.from_sql_windows import add_windows, name_windows
from ivm_core.plan.nodes import Distinct, Named, Plan, Project, column, references
from ivm_core.plan.rewrite import as_operand, expect_expression, substitute
from ivm_core.plan.scope import Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.spark_names import spark_name
from ivm_core.plan.subqueries import apply_conditions, attach

REFUSED = {
    "into": "SELECT INTO",
    "kind": "SELECT AS STRUCT",
    "match": "MATCH_RECOGNIZE",
    "connect": "CONNECT BY",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT or UNPIVOT",
    "locks": "FOR UPDATE",
    "prewhere": "PREWHERE",
    "exclude": "EXCLUDE",
    "settings": "SETTINGS",
    "format": "FORMAT",
}


def bind_select(select: exp.Select, scope: Scope) -> Relation:
    """The relation of one SELECT; ``scope`` holds its CTEs and the enclosing query."""
    for argument, construct in REFUSED.items():
        if select.args.get(argument):
            raise refusal(construct, select)
    select, scope = generate_over_groups(select, scope)
    scope = replace(scope, clock={})
    source = bind_from(select, scope)
    beside = scope.beside.names if scope.beside is not None else ()
    scope = replace(scope, fields=source.fields, beside=None)
    block = Block(scope, source.plan, list(source.correlated))
    where = select.args.get("where")
    if where is not None:
        if has_aggregate(where):
            raise complaint(DefinitionError, "WHERE cannot hold aggregates; use HAVING.", where, "WHERE")
        apply_conditions(block, resolve(where.this, scope))
    items = expand_items(select, block)
    select, items = place_windows(select, items, block)
    if block.scope is not scope:  # a generator made more rows
        source = replace(source, one_row=False, at_most_one_row=False)
        scope = block.scope
    order = order_items(select, len(items))
    group = select.args.get("group")
    grouped = group is not None or select.args.get("having") is not None
    grouped = grouped or any(has_aggregate(item) for _, item in items) or any(has_aggregate(item) for item in order)
    bound = bind_items(items, scope)
    aliases = {label.lower(): value for (label, _), value in zip(items, bound, strict=True) if label}
    outputs = replace(scope, aliases=aliases)
    asked: dict[str, exp.Expression] = {}  # aggregates that HAVING names inside of its subqueries
    if select.args.get("having") is not None:
        select, asked = take_outer_aggregates(select, block)
    having, qualify = (_bind_filter(select, clause, outputs) for clause in ("having", "qualify"))
    sort = [resolve(name_windows(item, select), replace(outputs, aliases_first=True)) for item in order]
    sort = [_ordinal(item, bound) for item in sort]
    defaults: dict[str, exp.Expression] = {}
    groups = Groups(block)
    if grouped:
        bind_keys(groups, group, items, scope)
        groups.keep_apart(beside)
        bound = [groups.over(value, label or "") for (label, _), value in zip(items, bound, strict=True)]
        having = groups.over(groups.prefer_aliases(having, outputs)) if having is not None else None
        qualify = groups.over(qualify) if qualify is not None else None
        sort = [groups.over(item) for item in sort]
        named = tuple(Field(label, groups.over(resolve(call, scope)).name) for label, call in asked.items())
        defaults = groups.close()
        block.scope = replace(block.scope, fields=(*block.scope.fields, *named))
        _check_grouped(block, [*bound, *(part for part in (having, qualify) if part is not None), *sort])
    per_row = bool(defaults and block.correlated)  # one row for each row of the query around, found anything or not
    if per_row and _looks_at_it(select, scope, [*bound, *(part for part in (having, qualify) if part is not None)]):
        keep_empty_groups(block, defaults)
        per_row = False
    late = having if per_row else None
    if having is not None and late is None:
        apply_conditions(block, having)
    written, bound = bound, [attach(block, value) for value in bound]
    sort = [_attach_key(block, item, written, bound) for item in sort]
    qualify = attach(block, qualify) if qualify is not None else None
    block.plan = join_clock(block.plan, scope.clock, *sort)
    if defaults and block.correlated and any(part.find(exp.Window) for part in (*bound, qualify) if part is not None):
        raise refusal("a window function over the one row of a correlated aggregate", select, "Leave it out.")
    bound, qualify, sort = add_windows(block, bound, qualify, sort, [label or "" for label, _ in items])
    if qualify is not None:
        apply_conditions(block, qualify)
    if per_row:
        return _values_relation(block, items, bound, defaults, late)
    taken = take_outer_values(block, [*bound, *sort])
    bound, sort = taken[: len(bound)], taken[len(bound) :]
    relation = _project(block, items, bound, sort, select, frozenset(beside))
    # One group of everything makes one row, which HAVING and QUALIFY may drop.
    whole = grouped and group is None
    single = whole or (not grouped and source.one_row)
    filtered = having is not None or qualify is not None or (where is not None and not grouped)
    relation = replace(
        relation,
        one_row=single and not filtered and not block.correlated,
        # Of one row, grouping sets make several.
        at_most_one_row=whole or (groups.sets is None and (single or source.at_most_one_row) and not block.correlated),
    )
    return bind_limit(relation, select, sort, scope)


def _bind_filter(select: exp.Select, clause: str, scope: Scope) -> exp.Expression | None:
    """The condition of HAVING or QUALIFY."""
    node = select.args.get(clause)
    return resolve(name_windows(node.this, select), scope) if node is not None else None


def _ordinal(item: exp.Expression, bound: list[exp.Expression]) -> exp.Expression:
    """ORDER BY 2 → the second item."""
    place = ordinal(item.this, len(bound), "ORDER BY")
    if place is not None:
        item = item.copy()
        item.set("this", bound[place].copy())
    return item


def _attach_key(
    block: Block, key: exp.Expression, written: list[exp.Expression], bound: list[exp.Expression]
) -> exp.Expression:
    """A key of ORDER BY with its subqueries as columns: the very ones of the items of the SELECT list that it names."""
    if not key.find(exp.Placeholder):
        return key
    known = {item: value for item, value in zip(written, bound, strict=True) if item.find(exp.Placeholder)}
    key = expect_expression(key.transform(lambda node: as_operand(known[node]) if node in known else node))
    return attach(block, key) if key.find(exp.Placeholder) else key


def _check_grouped(block: Block, expressions: list[exp.Expression]) -> None:
    """What stands above the groups may name their keys and aggregates only."""
    labels = {f.name: f.label for f in block.scope.fields}
    available = set(block.plan.names)
    for expression in expressions:
        stray = [name for name in references(expression) if name in labels and name not in available]
        if stray:
            own = next((str(call.this) for call in expression.find_all(exp.Anonymous)), "")
            hint = f" If {own}() aggregates, name it in the view's property 'ivm.aggregate_functions'." if own else ""
            raise complaint(
                DefinitionError,
                f"Column {labels[stray[0]]!r} is neither in GROUP BY nor inside an aggregate.{hint}",
                expression,
                "GROUP BY",
            )


def _project(
    block: Block,
    items: list[Item],
    bound: list[exp.Expression],
    sort: list[exp.Expression],
    select: exp.Select,
    beside: frozenset[str],
) -> Relation:
    """The SELECT list over the block's plan, keeping what outer conditions, ORDER BY and LATERAL still need."""
    context = block.scope.context
    distinct = select.args.get("distinct")
    if distinct:
        _compare_columns(block)
    inside = set(block.plan.names)
    columns: list[Named] = []
    fields: list[Field] = []
    for (label, item), value in zip(items, bound, strict=True):
        bare = expect_expression(value.unnest())
        taken = {named.name for named in columns}
        plain = isinstance(bare, exp.Column) and bare.name not in taken
        name = bare.name if plain else context.fresh(label or bare.key)
        columns.append(Named(name, bare))
        # Without an alias, an expression has the name that Spark would give it, or none.
        fields.append(Field(label or spark_name(item) or "", name))
    if distinct is not None and distinct.args.get("on"):
        raise refusal("DISTINCT ON", select)
    hidden = {name for part in block.correlated for name in references(part) & inside}
    if not distinct and (select.args.get("limit") or select.args.get("offset")):
        hidden |= {name for part in sort for name in references(part)}
    hidden = (hidden | beside) - {named.name for named in columns}
    if distinct:
        renamed = {named.expression: named.name for named in columns}
        sort[:] = [
            expect_expression(part.transform(lambda n: column(renamed[n]) if n in renamed else n)) for part in sort
        ]
        available = {named.name for named in columns}
        stray = next((part for part in sort if not references(part) <= available), None)
        if stray is not None:
            raise complaint(
                DefinitionError, "With DISTINCT, ORDER BY can name only selected columns.", stray, "ORDER BY"
            )
    plan: Plan = Project(block.plan, (*columns, *(Named(name, column(name)) for name in sorted(hidden))))
    if distinct:
        plan = Distinct(plan)
    return Relation(plan, tuple(fields), tuple(block.correlated))


def _compare_columns(block: Block) -> None:
    """Make every correlated condition ``inner column = outer``: then all rows for one outer row agree in the column."""
    inner = {part: sides_of(part, block.plan, block.scope.around)[0] for part in block.correlated}
    others = [part for part, side in inner.items() if not isinstance(side, exp.Column)]
    kept = [part for part in inner if part not in others]
    block.correlated = [*kept, *join_outer_values(block, others)]


def _looks_at_it(select: exp.Select, scope: Scope, above: list[exp.Expression]) -> bool:
    """Whether what stands above a correlated aggregate has to see its row, and not only the value that it gives: a subquery,
    the time, LIMIT 0, OFFSET."""
    told = set((scope.clock or {}).values())
    if row_count(select, "offset") or row_count(select, "limit") == 0:
        return True
    return any(part.find(exp.Placeholder) or references(part) & told for part in above)


def _values_relation(
    block: Block,
    items: list[Item],
    bound: list[exp.Expression],
    defaults: dict[str, exp.Expression],
    having: exp.Expression | None,
) -> Relation:
    """A correlated aggregate without GROUP BY gives a row even where nothing matches: its values are computed after
    the outer join, with the aggregates of an empty group in place of NULLs; so is HAVING."""
    every = (*bound, having) if having is not None else tuple(bound)
    around = block.scope.around
    reached = {*block.plan.names, *(around.names if around is not None else ())}
    past = next((value for value in every if not references(value) <= reached), None)
    if past is not None:
        raise refusal("a subquery that refers past the query around it", past, "Join the tables instead.")
    fields = tuple(
        Field(label or spark_name(item) or "", block.scope.context.fresh(label or "value")) for label, item in items
    )
    values = tuple(substitute(value, defaults) for value in bound)
    kept = substitute(having, defaults) if having is not None else None
    return Relation(block.plan, fields, tuple(block.correlated), values, kept)
