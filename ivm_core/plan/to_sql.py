"""Plan → SQL: one SELECT for as many operators as SQL allows, nested SELECTs only where the clauses' order asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from sqlglot import exp

from ivm_core.plan.dialect import SparkOfPlans
from ivm_core.plan.nodes import (
    Aggregate,
    At,
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
    SetKind,
    SetOperation,
    UnionAll,
    Values,
    Window,
    operators,
)
from ivm_core.plan.rewrite import conjuncts
from ivm_core.plan.share import Sharing, inputs_first
from ivm_core.plan.to_sql_draft import NOTHING, Draft, lateral_view, nest, new_relation, seal, seal_select, select_from
from ivm_core.plan.to_sql_duckdb import adapt_to_duckdb
from ivm_core.plan.to_sql_hints import alias_hint, name_recursions
from ivm_core.plan.to_sql_join import join_drafts
from ivm_core.plan.to_sql_names import quote_where_needed
from ivm_core.plan.to_sql_repeats import Repeats, find_repeats
from ivm_core.plan.types import parse_type

DEFAULT_SCHEMA = "default"
_GROUP_OF_ALL = "__ivm_group"  # the key of a grouping by nothing but constants

LeafName = Callable[[Scan | Changes], str]


def input_name(leaf: Scan | Changes) -> str:
    """The name under which a job reads the leaf; for a scan that is of no batch, the table's own name.

    >>> input_name(Changes("default.orders", ())), input_name(Scan("sales.orders", (), At.BEFORE))
    ('orders_changes', 'sales_orders_before')
    """
    schema, _, table = leaf.table.rpartition(".")
    stem = table if schema in ("", DEFAULT_SCHEMA) else f"{schema}_{table}"
    match leaf:
        case Changes():
            return f"{stem}_changes"
        case Scan(at=At.NOW):
            return leaf.table
        case Scan(at=at):
            return f"{stem}_{at.value}"
        case _:
            assert_never(leaf)


def to_sql(plan: Plan, *, dialect: str = "spark", pretty: bool = True, leaf_name: LeafName = input_name) -> str:
    """The plan as one query, whose columns are ``plan.names`` in their order.

    ``dialect`` is "spark", or "duckdb" for the functions that sqlglot can translate.
    """
    query = to_ast(plan, leaf_name)
    if dialect == "duckdb":
        adapt_to_duckdb(query)
    return query.sql(dialect=SparkOfPlans if dialect == "spark" else dialect, pretty=pretty, copy=False)


def to_ast(plan: Plan, leaf_name: LeafName = input_name) -> exp.Query:
    """The plan as a query of Spark's dialect. Raises ValueError when two different leaves get the same name."""
    plan = Sharing()(plan)
    _check_leaf_names(plan, leaf_name)
    repeats = find_repeats(plan, leaf_name)
    nodes = inputs_first(plan)
    drafter = _Drafter(leaf_name, repeats, name_recursions(nodes, leaf_name, repeats))
    query = seal(drafter.draft(plan))
    for node in nodes:
        name = drafter.recursions.get(id(node)) or repeats.name_of(node)
        if name is not None:
            item = drafter.recursion(node) if isinstance(node, Recursive) else seal(drafter.draft_operator(node))
            query = query.with_(exp.to_identifier(name), as_=item, copy=False)
    if drafter.recursions:
        query.args["with_"].set("recursive", True)
    return quote_where_needed(query)


@dataclass(frozen=True, slots=True)
class _Drafter:
    leaf_name: LeafName
    repeats: Repeats
    recursions: Mapping[int, str]  # id of a recursion → its name in the query
    rounds: Mapping[str, str] = field(
        default_factory=dict
    )  # the same for those that are being spelled, by their own names

    def draft(self, plan: Plan) -> Draft:
        """The plan as a SELECT that can still grow; a repeated subplan is read from its WITH item."""
        name = self.repeats.name_of(plan)
        if name is None:
            return self.draft_operator(plan)
        return select_from(new_relation(exp.Table(this=exp.to_identifier(name)), name), plan.names)

    def draft_operator(self, plan: Plan) -> Draft:
        match plan:
            case Scan() | Changes():
                return self._leaf(plan)
            case Values():
                return _values(plan)
            case Project(source, columns):
                return _project(self.draft(source), columns)
            case Filter(source, condition):
                draft = self.draft(source)
                if not replace(draft, distinct=False).is_rows:
                    draft = nest(draft, alias_hint(source))
                return replace(draft, where=(*draft.where, *conjuncts(draft.resolve(condition))))
            case Join(left, right, kind, on):
                return join_drafts(self.draft(left), self.draft(right), kind, on)
            case UnionAll():
                return self._union(plan)
            case SetOperation():
                return self._set_operation(plan)
            case Aggregate(source, keys, aggregates):
                return _aggregate(self.draft(source), keys, aggregates, alias_hint(source))
            case Distinct(source):
                draft = self.draft(source)
                return replace(nest(draft, alias_hint(source)) if draft.is_limited else draft, distinct=True)
            case Window(source, functions):
                return _window(self.draft(source), functions, alias_hint(source))
            case Generate(source, generator, outputs, outer):
                draft = self.draft(source)
                if not (draft.is_rows and draft.relations):
                    draft = nest(draft, alias_hint(source))
                return lateral_view(draft, generator, outputs, outer)
            case Limit():
                return self._limit(plan)
            case Recursive():
                name = self.recursions[id(plan)]
                return select_from(new_relation(exp.Table(this=exp.to_identifier(name)), name), plan.names)
            case Round(name, columns):
                relation = new_relation(exp.Table(this=exp.to_identifier(self.rounds[name])), name)
                return Draft(tuple(Named(c.name, relation.reference(c.source)) for c in columns), (relation,))
            case _:
                assert_never(plan)

    def _leaf(self, leaf: Scan | Changes) -> Draft:
        schema, _, name = self.leaf_name(leaf).rpartition(".")
        table = exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(schema) if schema else None)
        relation = new_relation(table, leaf.table.rpartition(".")[2])
        read = [Named(column.name, relation.reference(column.source)) for column in leaf.columns]
        weight = [Named(name, relation.reference(name)) for name in leaf.names[len(read) :]]
        return Draft((*read, *weight), (relation,))

    def _union(self, union: UnionAll) -> Draft:
        queries = [_operand(self.draft(part)) for part in self._parts(union)]
        combined = queries[0]
        for query in queries[1:]:
            combined = exp.Union(this=combined, expression=query, distinct=False)
        return select_from(new_relation(combined, "combined"), union.names)

    def _parts(self, union: UnionAll) -> list[Plan]:
        parts: list[Plan] = []
        for source in union.sources:
            flat = isinstance(source, UnionAll) and self.repeats.name_of(source) is None
            parts += self._parts(source) if flat and isinstance(source, UnionAll) else [source]
        return parts

    def recursion(self, plan: Recursive) -> exp.Query:
        """base UNION ALL step, for WITH RECURSIVE."""
        inside = replace(self, rounds={**self.rounds, plan.name: self.recursions[id(plan)]})
        base, step = (_operand(inside.draft(each)) for each in (plan.base, plan.step))
        return exp.Union(this=base, expression=step, distinct=False)

    def _set_operation(self, plan: SetOperation) -> Draft:
        operator = exp.Intersect if plan.kind is SetKind.INTERSECT else exp.Except
        query = operator(
            this=_operand(self.draft(plan.left)),
            expression=_operand(self.draft(plan.right)),
            distinct=not plan.all,
        )
        return select_from(new_relation(query, "combined"), plan.names)

    def _limit(self, plan: Limit) -> Draft:
        draft = self.draft(plan.source)
        if plan.count is None and plan.offset == 0:
            return draft
        order = tuple(key for key in plan.order if key.find(exp.Column))  # a constant would be a column's number
        by_names = all(isinstance(key, exp.Ordered) and isinstance(key.this, exp.Column) for key in order)
        if draft.is_limited or not (by_names or draft.is_pass_through):
            draft = nest(draft, alias_hint(plan.source))
        return replace(draft, order=order, count=plan.count, offset=plan.offset)


def _values(values: Values) -> Draft:
    types = [parse_type(type_) for type_ in values.types]  # none for void, the type of a bare NULL

    def typed(row: tuple[exp.Expression, ...]) -> list[exp.Expression]:
        return [
            exp.Cast(this=value.copy(), to=type_.copy()) if type_ is not None else value.copy()
            for value, type_ in zip(row, types, strict=True)
        ]

    if len(values.rows) <= 1:
        row = values.rows[0] if values.rows else tuple(exp.null() for _ in types)
        columns = tuple(Named(name, cast) for name, cast in zip(values.names, typed(row), strict=True))
        return Draft(columns, where=() if values.rows else (exp.false(),))
    if not values.names:
        numbers = [exp.Tuple(expressions=[exp.Literal.number(1)]) for _ in values.rows]
        return Draft((), (new_relation(exp.Values(expressions=numbers), "listed", (NOTHING,)),))
    rows = [exp.Tuple(expressions=typed(row)) for row in values.rows]
    return select_from(new_relation(exp.Values(expressions=rows), "listed", values.names), values.names)


def _project(draft: Draft, columns: tuple[Named, ...]) -> Draft:
    expressions = [column.expression for column in columns]
    mergeable = not (draft.distinct or draft.is_limited or draft.repeats(expressions))
    if not mergeable or (draft.keys is not None and not _fits_grouping(draft, expressions)):
        draft = nest(draft, "computed")
    return replace(draft, columns=draft.resolve_all(columns))


def _fits_grouping(draft: Draft, expressions: list[exp.Expression]) -> bool:
    """Whether the expressions can stand in the SELECT list of the GROUP BY.

    A computed key is matched by its text, so it may be passed through only; without keys, it is an aggregate in the
    SELECT list that makes a single group of all rows.
    """
    by_name = draft.by_name
    computed = {
        name
        for name, expression in by_name.items()
        if expression in (draft.keys or ()) and not isinstance(expression, exp.Column)
    }
    inside = [e for e in expressions if not isinstance(e, exp.Column)]
    if any(column.name in computed for expression in inside for column in expression.find_all(exp.Column)):
        return False
    return bool(draft.keys) or any(expression.find(exp.Column) for expression in expressions)


def _aggregate(draft: Draft, keys: tuple[Named, ...], aggregates: tuple[Named, ...], hint: str) -> Draft:
    if not keys and not aggregates:
        return Draft(())
    if not draft.is_rows or draft.repeats([column.expression for column in keys]):
        draft = nest(draft, hint)
    if keys and not aggregates:
        return replace(draft, columns=draft.resolve_all(keys), distinct=True)
    grouping = _grouping(draft, keys)
    if keys and not grouping:
        one = Named(_GROUP_OF_ALL, exp.Literal.number(1))
        draft = nest(replace(draft, columns=(*draft.columns, one)), hint)
        grouping = _grouping(draft, keys) or (draft.by_name[_GROUP_OF_ALL],)
    return replace(draft, columns=draft.resolve_all((*keys, *aggregates)), keys=grouping)


def _grouping(draft: Draft, keys: tuple[Named, ...]) -> tuple[exp.Expression, ...]:
    """The keys for GROUP BY: a constant splits no group, and an integer there would be the number of a column."""
    return tuple(key for key in (draft.resolve(key.expression) for key in keys) if key.find(exp.Column))


def _window(draft: Draft, functions: tuple[Named, ...], hint: str) -> Draft:
    windowed = {name for name, expression in draft.by_name.items() if expression.find(exp.Window)}
    read = {column.name for function in functions for column in function.expression.find_all(exp.Column)}
    rows = replace(draft, columns=tuple(column for column in draft.columns if column.name not in windowed)).is_rows
    if not rows or windowed & read or draft.repeats(function.expression for function in functions):
        draft = nest(draft, hint)
    return replace(draft, columns=(*draft.columns, *draft.resolve_all(functions)))


def _operand(draft: Draft) -> exp.Query:
    """The query as an operand of a set operation: a SELECT without ORDER BY and LIMIT of its own."""
    if draft.is_limited:
        draft = nest(draft, "limited")
        return seal_select(draft)
    query = seal(draft)
    plain = isinstance(query, exp.Select) and not (query.args.get("limit") or query.args.get("offset"))
    return query if plain else seal_select(draft)


def _check_leaf_names(plan: Plan, leaf_name: LeafName) -> None:
    leaves: dict[str, tuple[str, str]] = {}
    for leaf in operators(plan):
        if isinstance(leaf, Scan | Changes):
            state = (leaf.table, leaf.at.value if isinstance(leaf, Scan) else "changes")
            name = leaf_name(leaf)
            if leaves.setdefault(name.lower(), state) != state:
                raise ValueError(f"{leaves[name.lower()]} and {state} are both called {name}")
