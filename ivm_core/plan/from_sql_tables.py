"""The FROM clause: tables, subqueries, VALUES, joins of all kinds, lateral relations."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from sqlglot import exp

from ivm_core.errors import DefinitionError, UnknownTableError
from ivm_core.plan.block import Block
from ivm_core.plan.clock import join_clock
from ivm_core.plan.correlation import with_own_rows
from ivm_core.plan.determinism import settle_choices
from ivm_core.plan.from_sql_generators import KNOWN, bind_range, generate
from ivm_core.plan.from_sql_lateral import join_lateral
from ivm_core.plan.from_sql_on import join_subqueries
from ivm_core.plan.from_sql_pivot import bind_pivot
from ivm_core.plan.from_sql_recursive import bind_recursive, bind_round
from ivm_core.plan.from_sql_using import join_using
from ivm_core.plan.functions import is_generator, sql_name
from ivm_core.plan.nodes import Join, JoinKind, Scan, ScanColumn, Values, references
from ivm_core.plan.rewrite import both, conjuncts
from ivm_core.plan.scope import Field, Relation, Scope, complaint, refusal, resolve
from ivm_core.plan.subqueries import apply_conditions
from ivm_core.plan.types import common_type, without_length
from ivm_core.plan.types_expression import type_of

KINDS = {
    ("", ""): JoinKind.INNER,
    ("", "INNER"): JoinKind.INNER,
    ("", "CROSS"): JoinKind.INNER,
    ("LEFT", ""): JoinKind.LEFT,
    ("RIGHT", ""): JoinKind.RIGHT,
    ("FULL", ""): JoinKind.FULL,
    ("LEFT", "SEMI"): JoinKind.SEMI,
    ("", "SEMI"): JoinKind.SEMI,
    ("LEFT", "ANTI"): JoinKind.ANTI,
    ("", "ANTI"): JoinKind.ANTI,
}


def bind_from(select: exp.Expr, scope: Scope) -> Relation:
    """The relation of a SELECT's FROM clause with its joins and LATERAL VIEWs; one row without columns if there is none."""
    clause = select.args.get("from_")
    beside, inner = scope.beside, replace(scope, beside=None)
    if clause is None:
        return one_row(scope) if beside is None else Relation(beside, ())
    relation = bind_table(clause.this, scope if _is_generator(clause.this) else inner)
    if beside is not None and not _is_generator(clause.this):
        joined = Join(beside, relation.plan, JoinKind.INNER, both(*relation.correlated))
        relation = Relation(joined, relation.fields)
    scope = inner
    # Left to right, a comma like a JOIN, as Spark does unless spark.sql.ansi.relationPrecedence is set.
    for join in select.args.get("joins") or []:
        relation = _join(relation, join, scope)
    for lateral in select.args.get("laterals") or []:
        relation = _lateral(relation, lateral, scope, JoinKind.INNER, None)
    return relation


def one_row(scope: Scope) -> Relation:
    name = scope.context.fresh("one_row")
    return Relation(Values((name,), ("int",), ((exp.Literal.number(1),),)), (), one_row=True, at_most_one_row=True)


def bind_values(node: exp.Values, scope: Scope) -> Relation:
    """VALUES: each column has the common type of its expressions; columns are called col1, col2, … as in Spark."""
    scope = replace(scope, clock=None)
    rows = tuple(
        tuple(resolve(item, scope) for item in (row.expressions if isinstance(row, exp.Tuple) else [row.unnest()]))
        for row in node.expressions
    )
    named = next((row for row in node.expressions if row.find(exp.Alias, exp.TableAlias, exp.Aliases)), None)
    if named is not None:
        raise refusal("an alias after VALUES without parentheses", named, "Put each row into parentheses.")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise complaint(DefinitionError, "The rows of VALUES differ in length.", node, "VALUES")
    if any(item.find(exp.Column, exp.Placeholder) for row in rows for item in row):
        raise refusal("VALUES over columns or subqueries", node)
    types = [common_type(*(type_of(row[i], {}) for row in rows)) for i in range(width)]
    for i, data_type in enumerate(types):
        if data_type is None:
            raise refusal(f"VALUES with column {i + 1} of unknown type", node, "CAST its values to one type.")
    fields = tuple(Field(f"col{i + 1}", scope.context.fresh(f"col{i + 1}")) for i in range(width))
    plan = Values(tuple(f.name for f in fields), tuple(t or "" for t in types), rows)
    return Relation(plan, fields, one_row=len(rows) == 1, at_most_one_row=len(rows) == 1)


def bind_table(node: exp.Expr, scope: Scope) -> Relation:
    """One item of FROM with its alias."""
    if node.args.get("sample"):
        raise refusal("TABLESAMPLE", node, "A sample is not determined by the table.")
    match node:
        case exp.Table():
            relation = _named_table(node, scope)
        case exp.Values():
            relation = bind_values(node, scope)
        case exp.Subquery(this=exp.Table() | exp.Subquery() as inner) if _is_parentheses(node):
            relation = bind_table(inner, scope)
        case exp.Query():
            relation = with_own_rows(scope.context.bind(node, scope), scope)
            relation = replace(relation, fields=tuple(replace(f, qualifier=()) for f in relation.fields))
        case exp.Lateral():
            return _lateral(one_row(scope), node, scope, JoinKind.INNER, None)
        case exp.Paren():
            relation = bind_table(node.this, scope)
        case _:
            raise refusal(f"{node.key.upper()} in FROM", node)
    relation = _pivoted(_aliased(relation, node, scope), node, scope)
    for join in node.args.get("joins") or []:  # a JOIN (b JOIN c …) and a JOIN b JOIN c ON … ON …
        relation = _join(relation, join, scope)
    return relation


def _is_parentheses(node: exp.Subquery) -> bool:
    """Whether there is nothing of a query in it: what it holds is an item of FROM, with its own alias, joins and pivots."""
    return {part for part, value in node.args.items() if value} <= {"this", "alias", "joins", "pivots"}


def _pivoted(relation: Relation, node: exp.Expr, scope: Scope) -> Relation:
    """The relation after the PIVOTs and UNPIVOTs that follow a table, or a join."""
    for pivot in node.args.get("pivots") or []:
        relation = _aliased(bind_pivot(relation, pivot, scope), pivot, scope)
    return relation


def _aliased(relation: Relation, node: exp.Expr, scope: Scope) -> Relation:
    alias = node.args.get("alias")
    if alias is None:
        return relation
    if isinstance(alias.this, exp.Parameter):  # t@v1
        raise refusal("time travel in FROM", node)
    labels = tuple(item.name for item in alias.args.get("columns") or [])
    name = (alias.name.lower(),) if alias.name else ()
    if labels and len(labels) != len([f for f in relation.fields if f.starred]):
        raise complaint(
            DefinitionError, f"{alias.name!r} lists {len(labels)} columns for {len(relation.fields)}.", alias
        )
    fields = relation.qualified(name, labels)
    for f in fields:
        label, hint = scope.context.hints[f.name]
        if labels or not hint:
            scope.context.hints[f.name] = (f.label, alias.name or hint)
        elif isinstance(node, exp.Table):
            scope.context.hints[f.name] = (label, alias.name)
    return replace(relation, fields=fields)


def _named_table(node: exp.Table, scope: Scope) -> Relation:
    for argument in ("version", "when", "only", "partition", "changes"):
        if node.args.get(argument):
            raise refusal("time travel in FROM" if argument in ("version", "when") else argument.upper(), node)
    if not isinstance(node.this, exp.Identifier):
        if _is_generator(node):
            source = one_row(scope) if scope.beside is None else Relation(scope.beside, ())
            return generate(source, node.this, _labels(node), (), False, replace(scope, beside=None))
        if sql_name(node.this) == "range":
            return bind_range(node.this, scope)
        raise refusal("a table-valued function", node, KNOWN)
    parts = [part.name.lower() for part in node.parts]
    if any(character in part for part in parts for character in "/\\:"):
        raise refusal("a table named by its path", node, "Register it under a name.")
    if len(parts) == 1 and parts[0] in scope.ctes:
        cte = scope.ctes[parts[0]]
        if cte.rounds is not None:
            return bind_round(parts[0], cte, cte.rounds)
        if cte.recursive:
            return bind_recursive(parts[0], cte)
        relation = with_own_rows(scope.context.bind(cte.query, cte.scope), cte.scope)
        if cte.shared:
            relation = settle_choices(relation, scope.context)
        if cte.labels and len(cte.labels) != len(relation.fields):
            raise complaint(
                DefinitionError, f"{node.name!r} lists {len(cte.labels)} columns for {len(relation.fields)}.", node
            )
        return replace(relation, fields=relation.qualified((parts[0],), cte.labels))
    if len(parts) == 3 and parts[0] == "spark_catalog":
        parts = parts[1:]
    name = ".".join(parts if len(parts) > 1 else (scope.context.default_schema.lower(), *parts))
    schema = scope.context.tables.get(name)
    if schema is None:
        close = get_close_matches(name, list(scope.context.tables), n=3, cutoff=0.5)
        advice = f"Did you mean {', '.join(close)}?" if close else "Register it first."
        raise complaint(UnknownTableError, f"There is no table {name!r}. {advice}", node)
    columns = tuple(
        ScanColumn(scope.context.fresh(label, parts[-1]), label, without_length(data_type))
        for label, data_type in schema.columns
    )
    fields = tuple(Field(c.source, c.name, tuple(name.split("."))) for c in columns)
    return Relation(Scan(name, columns), fields)


def _join(left: Relation, node: exp.Join, scope: Scope) -> Relation:
    return _pivoted(_joined(left, node, scope), node, scope)


def _joined(left: Relation, node: exp.Join, scope: Scope) -> Relation:
    side, word, method = (str(node.args.get(key) or "").upper() for key in ("side", "kind", "method"))
    kind = KINDS.get((side, "" if word == "OUTER" else word))
    if kind is None or method not in ("", "NATURAL"):
        raise refusal(f"{' '.join(filter(None, (method, side, word)))} JOIN", node)
    shared = bool(node.args.get("using")) or method == "NATURAL"
    if isinstance(node.this, exp.Lateral) and shared:  # Spark has no such joins
        raise refusal("USING or NATURAL with LATERAL", node, "Write ON.")
    if isinstance(node.this, exp.Lateral) or (_is_generator(node.this) and not shared):
        return _lateral(left, node.this, scope, kind, node.args.get("on"))
    right = bind_table(node.this, scope)
    _refuse_correlated(left, right, kind, node)
    using = tuple(item.name for item in node.args.get("using") or [])
    if method == "NATURAL":
        names = {f.label.lower() for f in right.fields if f.starred}
        using = tuple(f.label for f in left.fields if f.starred and f.label.lower() in names)
    if using:
        return join_using(left, right, kind, using, node, scope)
    on = node.args.get("on")
    # The time is told by the left side, under names of its own: an outer join may leave them NULL.
    clock: dict[str, str] = {}
    inner = replace(scope, fields=(*left.fields, *right.fields), clock=clock)
    condition = resolve(on, inner) if on is not None else None
    if condition is not None:
        left = replace(left, plan=join_clock(left.plan, clock, condition))
    if kind != JoinKind.INNER:
        one, other, condition = join_subqueries(left.plan, right.plan, kind, condition, inner, on)
        left, right = replace(left, plan=one), replace(right, plan=other)
    fields = left.fields if kind in (JoinKind.SEMI, JoinKind.ANTI) else inner.fields
    correlated = (*left.correlated, *right.correlated)
    names = {*left.plan.names, *right.plan.names}
    plain = [c for c in conjuncts(condition) if not c.find(exp.Placeholder) and references(c) <= names]
    rest = [c for c in conjuncts(condition) if c not in plain]
    block = Block(inner, Join(left.plan, right.plan, kind, both(*plain)), list(correlated))
    for part in rest:
        apply_conditions(block, part)
    single = left.one_row and right.one_row and not condition and kind == JoinKind.INNER
    return Relation(block.plan, fields, tuple(block.correlated), one_row=single, at_most_one_row=single)


def _refuse_correlated(left: Relation, right: Relation, kind: JoinKind, node: exp.Join) -> None:
    """What a side compares with the enclosing query is compared above the join, where the side may be missing or NULL."""
    whole = {JoinKind.LEFT: (left,), JoinKind.SEMI: (left,), JoinKind.ANTI: (left,), JoinKind.RIGHT: (right,)}
    if kind != JoinKind.INNER and any(side.correlated for side in (left, right) if side not in whole.get(kind, ())):
        raise refusal(
            "an outer reference on this side of an outer, semi or anti join", node, "Join it in the query around."
        )


def _lateral(left: Relation, node: exp.Expr, scope: Scope, kind: JoinKind, on: exp.Expr | None) -> Relation:
    inner = replace(scope, fields=left.fields)
    body = node.this
    alias = node.args.get("alias")
    qualifier = (alias.name.lower(),) if alias is not None and alias.name else ()
    if isinstance(body, exp.Query):
        condition = None if isinstance(on, exp.Boolean) and on.this else on
        if kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise refusal(f"{kind.value.upper()} JOIN LATERAL", node)
        joined = join_lateral(
            left, body, inner, kind, qualifier, _labels(node), condition if kind == JoinKind.LEFT else None
        )
        if condition is None or kind == JoinKind.LEFT:
            return joined
        block = Block(replace(scope, fields=joined.fields), joined.plan, list(joined.correlated))
        apply_conditions(block, resolve(condition, block.scope))
        return Relation(block.plan, joined.fields, tuple(block.correlated))
    if kind not in (JoinKind.INNER, JoinKind.LEFT) or not (on is None or (isinstance(on, exp.Boolean) and on.this)):
        raise refusal(f"{kind.value.upper()} JOIN with a generator and a condition", node, "Use LATERAL VIEW [OUTER].")
    outer = bool(node.args.get("outer")) or kind == JoinKind.LEFT
    return generate(left, body, _labels(node), qualifier, outer, inner)


def _labels(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    return tuple(item.name for item in alias.args.get("columns") or []) if alias is not None else ()


def _is_generator(node: exp.Expr) -> bool:
    return isinstance(node, exp.Table) and is_generator(node.this)
