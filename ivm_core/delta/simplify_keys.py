"""Restrictions Q ⋉ K pushed down to the leaves and across equal columns, so that only affected rows are read.

K is built by ``keys``; it is small and its columns meet no column of the query, so it can be pushed like a filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.differentiate import common_partition
from ivm_core.delta.keys import is_keys, is_restriction
from ivm_core.delta.simplify_columns import prune_columns
from ivm_core.plan.empty import is_empty
from ivm_core.plan.join_chain import join_all, join_chain
from ivm_core.plan.join_graph import equal_columns, equality
from ivm_core.plan.nodes import (
    Aggregate,
    At,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
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
    keep,
    operators,
    references,
    sources,
)
from ivm_core.plan.remembered import remembered
from ivm_core.plan.rewrite import both, conjuncts, expect_expression, substitute, with_sources
from ivm_core.plan.schema import types_of
from ivm_core.plan.types_plan import same_types


def push_restriction(plan: Plan) -> Plan:
    """(A ⋈ B) ⋉ K → (A ⋉ K) ⋈ B, where K is matched with columns of A only; through other operators likewise."""
    if not isinstance(plan, Join) or not is_restriction(plan):
        return plan
    sunk = _sink(plan.left, plan.right, plan.condition)
    return plan if sunk is None else sunk


def split_restriction(plan: Plan) -> Plan:
    """(A ⋈ B) ⋉ K → ((A ⋉ πK) ⋈ (B ⋉ πK)) ⋉ K, where K is matched with columns of both sides."""
    if not isinstance(plan, Join) or not is_restriction(plan) or not isinstance(plan.left, Join):
        return plan
    join, parts = plan.left, conjuncts(plan.condition)
    inputs, conditions = join_chain(join)
    if len(inputs) > 1:
        restricted = tuple(_restricted(source, plan.right, parts) for source in inputs)
        return plan if restricted == inputs else replace(plan, left=join_all(restricted, conditions))
    left = _restricted(join.left, plan.right, parts) if join.kind in _KEEPS_LEFT else join.left
    right = _restricted(join.right, plan.right, parts) if join.kind in _KEEPS_RIGHT else join.right
    unchanged = left is join.left and right is join.right
    return plan if unchanged else replace(plan, left=replace(join, left=left, right=right))


def transfer_restriction(plan: Plan) -> Plan:
    """(A ⋉ K on a) ⋈_{a=b} B → (A ⋉ K on a) ⋈_{a=b} (B ⋉ K on b): rows of B with other keys meet no row of A."""
    if not isinstance(plan, Join) or is_restriction(plan):
        return plan
    left, right = plan.left, plan.right
    if plan.kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.ANTI, JoinKind.LEFT):
        right = _transfer(left, right, plan)
    if plan.kind in (JoinKind.INNER, JoinKind.RIGHT, JoinKind.SEMI):
        left = _transfer(plan.right, left, plan)
    return plan if left is plan.left and right is plan.right else replace(plan, left=left, right=right)


_KEEPS_LEFT = (JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI)
_KEEPS_RIGHT = (JoinKind.INNER, JoinKind.RIGHT)


@dataclass(frozen=True, slots=True)
class Restricted:
    """Every value of ``name`` occurs in column ``key`` of ``keys``, NULL too where ``null_safe``."""

    name: str
    keys: Plan
    key: str
    null_safe: bool


@remembered
def restrictions(plan: Plan) -> tuple[Restricted, ...]:
    """The output columns whose values are known to occur in some K."""
    return tuple(_find_restrictions(plan))


def _find_restrictions(plan: Plan) -> Iterator[Restricted]:
    match plan:
        case Join(left, right, JoinKind.SEMI, condition) if is_keys(right):
            yield from restrictions(left)
            for name, key, null_safe in equal_columns(condition, left, right):
                yield Restricted(name, right, key, null_safe)
        case Join(left, right, kind):
            if kind in _KEEPS_LEFT:
                yield from restrictions(left)
            if kind in _KEEPS_RIGHT:
                yield from restrictions(right)
        case Project(source, columns) | Aggregate(source, columns):
            for found in restrictions(source):
                for named in columns:
                    if isinstance(named.expression, exp.Column) and named.expression.name == found.name:
                        yield replace(found, name=named.name)
        case Filter(source) | Distinct(source) | Window(source) | Generate(source) | Limit(source):
            yield from restrictions(source)
        case UnionAll((first, *others)):
            in_others = [set(restrictions(other)) for other in others]
            yield from (found for found in restrictions(first) if all(found in other for other in in_others))
        case SetOperation(left):
            yield from restrictions(left)
        case Scan() | Changes() | Values() | UnionAll() | Recursive() | Round():
            return
        case _:
            assert_never(plan)


def _sink(source: Plan, keys: Plan, condition: exp.Expression | None) -> Plan | None:
    """``source`` with the restriction somewhere below it, None where it cannot go below."""
    parts = conjuncts(condition)
    own = tuple(references(part) - set(keys.names) for part in parts)
    used = frozenset[str]().union(*own)

    def onto(plan: Plan, on: exp.Expression | None = condition) -> Plan:
        below = _sink(plan, keys, on)
        return Join(plan, keys, JoinKind.SEMI, on) if below is None else below

    match source:
        case Scan() | Changes() | Values() | Limit():
            return None
        case Filter(inner) | Join(inner, _, JoinKind.SEMI) if isinstance(source, Filter) or is_restriction(source):
            # These commute with the restriction: only worth it where it gets below something else.
            below = _sink(inner, keys, condition)
            return None if below is None else _with_first(source, below)
        case Project(inner, columns):
            mapping = {named.name: named.expression for named in columns}
            return Project(onto(inner, _substituted(parts, mapping)), columns)
        case UnionAll() | SetOperation():
            # Where the inputs' types differ, the operator casts, and a key may be another value below it.
            inputs = sources(source)
            return with_sources(source, tuple(onto(each) for each in inputs)) if same_types(inputs, used) else None
        case Distinct(inner):
            return Distinct(onto(inner))
        case Join(left, right, kind):
            if kind in _KEEPS_LEFT and used <= set(left.names):
                return replace(source, left=onto(left))
            if kind in _KEEPS_RIGHT and used <= set(right.names):
                return replace(source, right=onto(right))
            return None
        case Aggregate(inner, group):
            mapping = {named.name: named.expression for named in group}
            if not group or not used <= set(mapping):
                return None
            return replace(source, source=onto(inner, _substituted(parts, mapping)))
        case Window(inner):
            partition = common_partition(source)
            plain = {part.name for part in partition if isinstance(part, exp.Column)}
            local = all(
                names <= plain or _matched(part, keys) in partition for names, part in zip(own, parts, strict=True)
            )
            return replace(source, source=onto(inner)) if parts and local else None
        case Generate(inner):
            return replace(source, source=onto(inner)) if used <= set(inner.names) else None
        case _:
            return None


def _restricted(side: Plan, keys: Plan, parts: tuple[exp.Expression, ...]) -> Plan:
    """``side ⋉ πK`` by the conditions over the side's columns, unless it is there already, has no row to drop, or is no weaker
    than K.

    By K's columns too: ``s.b > 0`` alone keeps as many rows as the side has, whatever is in K.
    """
    local = [p for p in parts if (names := references(p) - set(keys.names)) and names <= set(side.names)]
    condition = both(*local)
    if is_empty(side) or condition is None or len(local) == len(parts) or not references(condition) & set(keys.names):
        return side
    part = _columns_of(keys, references(condition))
    if _is_restricted_by(side, part, condition):
        return side
    return Join(side, part, JoinKind.SEMI, condition)


def _transfer(restricted: Plan, other: Plan, join: Join) -> Plan:
    """``other ⋉ K`` for every K that restricts a column which the join makes equal to one of ``other``."""
    known = {found.name: found for found in restrictions(restricted)}
    if not known or is_empty(other):
        return other
    types = types_of(other)
    matches: dict[Plan, dict[str, exp.Expression]] = {}
    for mine, name, null_safe in equal_columns(join.condition, restricted, other):
        if mine not in known:
            continue
        found = known[mine]
        # Equality carries over only within one type: 0.1 in DOUBLE equals many a DECIMAL.
        same = {types.get(name), types_of(restricted).get(mine), types_of(found.keys).get(found.key)}
        if len(same) == 1 and None not in same:
            pair = equality(name, found.key, null_safe=null_safe and found.null_safe)
            matches.setdefault(found.keys, {}).setdefault(found.key, pair)
    for keys, pairs in matches.items():
        if _is_implied(other, keys, {key: pair.this.name for key, pair in pairs.items()}):
            continue
        part = _columns_of(keys, frozenset(pairs))
        if not _is_restricted_by(other, keys) and not _is_restricted_by(other, part):
            other = Join(other, part, JoinKind.SEMI, both(*pairs.values()))
    return other


def _is_restricted_by(plan: Plan, keys: Plan, condition: exp.Expression | None = None) -> bool:
    """Whether there is a restriction already by the same columns of keys from the same leaves.

    The one in the plan may have been rewritten since it was made, and may read fewer leaves then, by the same ``condition``:
    comparing it whole would add it in every pass.
    """
    placed = (node for node in operators(plan) if isinstance(node, Join) and is_restriction(node))
    leaves = _leaves(keys)
    return any(
        each.right.names == keys.names
        and (_leaves(each.right) == leaves or (each.condition == condition and _leaves(each.right) < leaves))
        for each in placed
    )


def _is_implied(plan: Plan, keys: Plan, columns: dict[str, str]) -> bool:
    """Whether the columns, by K's, are restricted already by those of a K from the same leaves, which may have more."""
    leaves = _leaves(keys)
    placed = {(found.name, found.key) for found in restrictions(plan) if _leaves(found.keys) == leaves}
    return all((name, key) in placed for key, name in columns.items())


@remembered
def _leaves(plan: Plan) -> frozenset[tuple[str, At | None]]:
    if isinstance(plan, Scan | Changes):
        return frozenset(((plan.table, plan.at if isinstance(plan, Scan) else None),))
    return frozenset[tuple[str, At | None]]().union(*(_leaves(source) for source in sources(plan)))


def _columns_of(keys: Plan, names: frozenset[str]) -> Plan:
    """K itself, or the distinct part of it with the given columns: pruned, so that it is known again after the pruning."""
    kept = tuple(name for name in keys.names if name in names)
    if kept == keys.names:
        return keys
    found = _parts.get((id(keys), kept))
    if found is None:
        if len(_parts) >= _MOST_PARTS:
            _parts.clear()
        found = _parts[id(keys), kept] = (keys, prune_columns(Aggregate(keys, keep(kept), ())))
    return found[1]


# By K's id, kept beside so that no other plan comes to have it: the same part is asked for in every pass.
_parts: dict[tuple[int, tuple[str, ...]], tuple[Plan, Plan]] = {}
_MOST_PARTS = 1_000


def _substituted(parts: tuple[exp.Expression, ...], mapping: dict[str, exp.Expression]) -> exp.Expression | None:
    return both(*(substitute(part, mapping) for part in parts))


def _matched(part: exp.Expression, keys: Plan) -> exp.Expression | None:
    """What a null-safe equality matches with K alone."""
    if not isinstance(part, exp.NullSafeEQ) or not references(part.expression) <= set(keys.names):
        return None
    return expect_expression(part.this.unnest())


def _with_first(plan: Plan, source: Plan) -> Plan:
    return with_sources(plan, (source, plan.right) if isinstance(plan, Join) else (source,))
