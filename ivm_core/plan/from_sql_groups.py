"""GROUP BY: keys, aggregates, grouping sets; expressions over aggregates are split off for a projection above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from sqlglot import exp

from ivm_core.errors import DefinitionError
from ivm_core.plan.block import Block
from ivm_core.plan.correlation import group_by_correlation, key_position
from ivm_core.plan.from_sql_aggregates import empty_value, has_aggregate, replace_aggregates, spell_aggregate
from ivm_core.plan.from_sql_order import ordinal
from ivm_core.plan.functions import sql_name
from ivm_core.plan.nodes import (
    Aggregate,
    Filter,
    Named,
    Plan,
    Project,
    UnionAll,
    column,
    keep,
    references,
)
from ivm_core.plan.rewrite import expect_expression, substitute
from ivm_core.plan.same_value import one_spelling, with_keys
from ivm_core.plan.scope import Scope, complaint, match_field, refusal, resolve
from ivm_core.plan.subqueries import attach
from ivm_core.plan.types import typed
from ivm_core.plan.types_plan import types_of

Sets = tuple[frozenset[int], ...]


@dataclass
class Groups:
    """A grouped SELECT: ``keys`` and ``aggregates`` are collected first, then ``close`` makes the plan."""

    block: Block
    keys: list[Named] = field(default_factory=list)
    sets: Sets | None = None
    aggregates: list[Named] = field(default_factory=list)
    grouping: list[Named] = field(default_factory=list)  # grouping() and grouping_id() calls
    subqueries: list[tuple[exp.Expression, str]] = field(
        default_factory=list
    )  # keys that hold some, as they are written

    def add_key(self, expression: exp.Expression, label: str) -> int:
        written = self._written_out(expression)
        for position, key in enumerate(self.keys):
            if (written, key.name) in self.subqueries:
                return position
        position = key_position(self.block, self.keys, attach(self.block, expression), label)
        if expression.find(exp.Placeholder):
            self.subqueries.append((written, self.keys[position].name))
        return position

    def keep_apart(self, names: Sequence[str]) -> None:
        """Group by these columns of the plan too."""
        if names and (not self.keys or self.sets is not None):
            raise refusal("a LATERAL aggregate of this kind that computes with outer columns", None, "Join the tables.")
        for name in names:
            self.add_key(column(name), name)

    def over(self, expression: exp.Expression, label: str = "") -> exp.Expression:
        """A resolved expression rewritten over the groups' columns; what it aggregates is added to the aggregates."""
        replaced: dict[str, exp.Expression] = {}

        def aggregate(call: exp.Expression) -> exp.Expression:
            if isinstance(call, exp.Grouping | exp.GroupingId):
                return self._collect(self.grouping, call, call.key)
            # Subqueries in an aggregate's argument are row-wise: they belong below it.
            inner = attach(self.block, spell_aggregate(call))
            if has_aggregate_inside(inner):
                raise complaint(DefinitionError, "Aggregate functions cannot be nested.", call, "aggregate")
            whole = call is expression or expression.unnest() == call
            return self._collect(self.aggregates, inner, label if whole and label else inner.key)

        # Keys first: an equal expression outside aggregates is the key's column.
        marked = replace_aggregates(expression, lambda call: _stash(replaced, aggregate(call)))
        for written, name in self.subqueries:
            marked = self._key_in_place(marked, written, name)
        return substitute(with_keys(marked, {key.expression: key.name for key in self.keys}, [*replaced]), replaced)

    def prefer_aliases(self, having: exp.Expression, scope: Scope) -> exp.Expression:
        """A name in HAVING that is a column's and an alias means the alias where the column is no key.

        ``SELECT a, sum(b) AS b FROM t GROUP BY a HAVING b > 1`` asks for the sum; inside of an aggregate, b is the column.
        """
        aggregates: dict[str, exp.Expression] = {}
        bare = replace_aggregates(having, lambda call: _stash(aggregates, call))
        keys = {key.expression for key in self.keys}
        labels = {f.name: f.label.lower() for f in scope.fields}
        meant = {
            node.name: scope.aliases[labels[node.name]]
            for node in bare.find_all(exp.Column)
            if node not in keys and labels.get(node.name) in scope.aliases
        }
        return substitute(substitute(bare, meant), aggregates) if meant else having

    def _key_in_place(self, expression: exp.Expression, key: exp.Expression, name: str) -> exp.Expression:
        """The expression with the key's column wherever the key, which holds a subquery, stands in it."""

        def swap(node: exp.Expr) -> exp.Expr:
            return column(name) if node.find(exp.Placeholder) and self._written_out(node) == key else node

        return expect_expression(expression.transform(swap))

    def _written_out(self, expression: exp.Expr) -> exp.Expression:
        """The expression with its subqueries in place of their marks, each of which is another."""
        queries = self.block.scope.context.subqueries
        written = expression.transform(
            lambda node: queries[str(node.this)].copy() if isinstance(node, exp.Placeholder) else node
        )
        return expect_expression(written)

    def _collect(self, into: list[Named], call: exp.Expression, label: str) -> exp.Expression:
        for known in into:
            if known.expression == call:
                return column(known.name)
        name = self.block.scope.context.fresh(label)
        into.append(Named(name, call))
        return column(name)

    def close(self) -> dict[str, exp.Expression]:
        """Put the aggregate on top of the block's plan. Returns aggregate columns → their value over no rows."""
        block = self.block
        for named in (*self.keys, *self.aggregates):
            if not references(named.expression) <= set(block.plan.names):
                raise refusal("an outer reference inside GROUP BY or an aggregate", named.expression)
        global_aggregate = not self.keys and self.sets is None
        if global_aggregate or (self.sets is not None and frozenset() in self.sets):
            _refuse_users_own(self.aggregates)
        if global_aggregate and not self.aggregates:  # SELECT 1 … HAVING …
            count = exp.Count(this=exp.Star(), big_int=True)
            self.aggregates.append(Named(block.scope.context.fresh("rows"), count))
        if block.correlated and self.sets is not None:
            raise refusal("GROUPING SETS in a correlated subquery", block.correlated[0])
        group_by_correlation(block, self.keys)
        if self.sets is None:
            if self.grouping:
                raise refusal("grouping() without GROUPING SETS", self.grouping[0].expression)
            block.plan = Aggregate(block.plan, tuple(self.keys), tuple(self.aggregates))
        else:
            block.plan = self._union_of_sets(block.plan, self.sets)
        if not global_aggregate:
            return {}
        return {a.name: empty_value(a.expression, column(a.name)) for a in self.aggregates}

    def _union_of_sets(self, source: Plan, sets: Sets) -> Plan:
        """GROUPING SETS: an aggregate for each set; the other keys are NULL. No rows make no groups, not even for ()."""
        types = types_of(Project(source, tuple(self.keys)) if self.keys else source)
        parts: list[Plan] = []
        for chosen in sets:
            keys = tuple(key for position, key in enumerate(self.keys) if position in chosen)
            aggregates = tuple(self.aggregates)
            if not keys:
                rows = Named(self.block.scope.context.fresh("rows"), exp.Count(this=exp.Star(), big_int=True))
                aggregates = (*aggregates, rows)
            plan: Plan = Aggregate(source, keys, aggregates)
            if not keys:
                plan = Filter(plan, exp.GT(this=column(rows.name), expression=exp.Literal.number(0)))
            absent = {
                key.name: typed(exp.null(), types.get(key.name))
                for position, key in enumerate(self.keys)
                if position not in chosen
            }
            columns = (
                *(Named(key.name, absent.get(key.name, column(key.name))) for key in self.keys),
                *keep(tuple(a.name for a in self.aggregates)),
                *(Named(g.name, self._grouping_value(g.expression, chosen)) for g in self.grouping),
            )
            parts.append(Project(plan, columns))
        return UnionAll(tuple(parts))

    def _grouping_value(self, call: exp.Expression, chosen: frozenset[int]) -> exp.Expression:
        positions = list(range(len(self.keys)))
        if call.expressions:
            known = [one_spelling(key.expression) for key in self.keys]
            asked = [one_spelling(argument) for argument in call.expressions]
            if not set(asked) <= set(known):
                raise complaint(DefinitionError, "grouping() is about grouping columns only.", call, "grouping")
            positions = [known.index(argument) for argument in asked]
        bits = sum((position not in chosen) << place for place, position in enumerate(reversed(positions)))
        target = "tinyint" if isinstance(call, exp.Grouping) else "bigint"
        return exp.cast(exp.Literal.number(bits), target, dialect="spark")


def bind_keys(groups: Groups, clause: exp.Group | None, items: list[tuple[str | None, exp.Expr]], scope: Scope) -> None:
    """GROUP BY expressions, ordinals, SELECT aliases, ALL, ROLLUP, CUBE and GROUPING SETS."""
    if clause is None:
        return
    if clause.args.get("all"):
        for label, item in items:
            if not has_aggregate(item):
                groups.add_key(resolve(item, scope), label or "key")
        return
    parts: list[Sets] = []
    grouped = False
    for expression in clause.expressions:
        parts.append(_sets(groups, expression, items, scope))
        grouped = grouped or isinstance(expression, exp.Rollup | exp.Cube | exp.GroupingSets)
    for kind, expand in (("rollup", _rollup), ("cube", _cube)):  # GROUP BY a, b WITH ROLLUP
        if clause.args.get(kind):
            flat: list[frozenset[int]] = [chosen for part in parts for chosen in part]
            parts, grouped = [expand(flat)], True
    if clause.args.get("grouping_sets"):  # GROUP BY a, b GROUPING SETS (…)
        parts = [tuple(s for sets in clause.args["grouping_sets"] for s in _sets(groups, sets, items, scope))]
        grouped = True
    if grouped:
        groups.sets = tuple(frozenset().union(*combination) for combination in product(*parts))


def _sets(groups: Groups, node: exp.Expr, items: list[tuple[str | None, exp.Expr]], scope: Scope) -> Sets:
    """The sets of key positions that one element of GROUP BY stands for."""

    def key(item: exp.Expr) -> int:
        expression, label = _key(item, items, scope)
        return groups.add_key(expression, label)

    def one(item: exp.Expr) -> frozenset[int]:
        return frozenset(key(part) for part in (item.expressions if isinstance(item, exp.Tuple) else [item.unnest()]))

    match node:
        case exp.Rollup():
            return _rollup([one(item) for item in node.expressions])
        case exp.Cube():
            return _cube([one(item) for item in node.expressions])
        case exp.GroupingSets():
            return tuple(
                chosen
                for item in node.expressions
                for chosen in (
                    _sets(groups, item, items, scope)
                    if isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets)
                    else (one(item),)
                )
            )
        case _:
            return (one(node),)


def _key(item: exp.Expr, items: list[tuple[str | None, exp.Expr]], scope: Scope) -> tuple[exp.Expression, str]:
    place = ordinal(item, len(items), "GROUP BY")
    if place is not None:
        label, item = items[place]
        if has_aggregate(item):
            raise complaint(DefinitionError, f"GROUP BY {place + 1} is an aggregate.", item, "GROUP BY")
        return resolve(item, scope), label or "key"
    if isinstance(item, exp.Column) and match_field(scope, tuple(p.name for p in item.parts), item) is None:
        for label, selected in items:
            if label is not None and len(item.parts) == 1 and label.lower() == item.name.lower():
                return resolve(selected, scope), label
    return resolve(item, scope), item.name or item.key


def _rollup(parts: list[frozenset[int]]) -> Sets:
    return tuple(frozenset().union(*parts[:length]) for length in range(len(parts), -1, -1))


def _cube(parts: list[frozenset[int]]) -> Sets:
    return tuple(
        frozenset().union(*chosen) for size in range(len(parts), -1, -1) for chosen in combinations(parts, size)
    )


def has_aggregate_inside(call: exp.Expr) -> bool:
    """Whether an aggregate's arguments hold another aggregate."""
    if isinstance(call, exp.IgnoreNulls | exp.RespectNulls):
        return has_aggregate_inside(call.this)
    if isinstance(call, exp.WithinGroup):
        return has_aggregate_inside(call.this) or has_aggregate(call.expression)
    return any(has_aggregate(child) for child in call.iter_expressions())


def _refuse_users_own(aggregates: list[Named]) -> None:
    """Spark 4.2 (MergeSubplans) fails where it plans a Python aggregate of all rows beside another aggregate of all."""
    for call in (aggregate.expression for aggregate in aggregates):
        if isinstance(call, exp.AnonymousAggFunc):
            raise refusal(f"{sql_name(call)}(), registered by a user, of all rows", call, "Group by a column.")


def _stash(replaced: dict[str, exp.Expression], value: exp.Expression) -> exp.Expression:
    """Hide an aggregate's column while keys are replaced, as a name that no key can equal."""
    name = f"aggregate{len(replaced)}"
    replaced[name] = value
    return column(name)
