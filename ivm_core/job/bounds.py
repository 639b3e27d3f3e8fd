"""Delta-driven pruning: which scan columns can only match values that a small relation holds.

In ``ΔR ⋈ S`` on ``r.k = s.k`` only rows of S whose k occurs in ΔR matter. Delta Lake skips files by literal
predicates, not by joins, so a job names such columns (``Bound``) and the engine turns them into literals once ΔR is
there. Small relations are the changes of base tables and the steps computed from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from ivm_core.delta.differentiate import common_partition
from ivm_core.job.model import Bound
from ivm_core.plan.join_graph import equal_columns
from ivm_core.plan.nodes import (
    WEIGHT,
    Aggregate,
    At,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Named,
    Plan,
    Project,
    Recursive,
    Round,
    Scan,
    ScanColumn,
    SetOperation,
    UnionAll,
    Values,
    Window,
)
from ivm_core.plan.rewrite import with_sources
from ivm_core.plan.schema import types_of
from ivm_core.plan.types import INTEGRAL

STEP_PREFIX = "step."
_MOST_POSITIONS = 3  # of one operator that are told bounds of their own


@dataclass(frozen=True, slots=True)
class Origin:
    """A column of a small relation, and whether it was matched null-safe on the way."""

    relation: str
    column: str
    null_safe: bool = False


Known = Mapping[str, Origin]
LeafName = Callable[[Scan | Changes], str]


def place_bounds(
    plan: Plan, leaf_name: LeafName, name_input: Callable[[Scan | Changes, tuple[Bound, ...]], str]
) -> Plan:
    """The plan with every base-table leaf replaced by a scan of a named input, told the bounds of its position.

    ``leaf_name`` names small relations (changes and steps); ``name_input`` gets each leaf with its bounds and returns
    the input's name. The same leaf at two positions may get different bounds, hence two inputs. A subplan that occurs
    several times as one object, each time with the same known, is placed once, and still is one object; after a few
    different positions it is placed without any bounds for all others: parts of parts would multiply.
    """
    positions: Counter[int] = Counter()
    placed: dict[tuple[int, frozenset[tuple[str, Origin]]], Plan] = {}  # ``plan`` keeps its operators, and so their ids
    provided: dict[int, Known] = {}

    def place(node: Plan, known: Known) -> Plan:
        own = _within(known, node)
        key = id(node), frozenset(own.items())
        if key not in placed and positions[id(node)] >= _MOST_POSITIONS:
            own, key = {}, (id(node), frozenset())
        if key not in placed:
            positions[id(node)] += 1
            placed[key] = place_once(node, own)
        return placed[key]

    def provides_once(node: Plan) -> Known:
        if id(node) not in provided:
            provided[id(node)] = provides(node, leaf_name, provides_once)
        return provided[id(node)]

    def place_once(node: Plan, known: Known) -> Plan:
        match node:
            case Scan(table):
                if table.startswith(STEP_PREFIX):
                    return node
                bounds = {Bound(n, o.relation, o.column, o.null_safe) for n, o in known.items()}
                return _input(node, name_input(node, tuple(sorted(bounds, key=_order))))
            case Changes():
                return _input(node, name_input(node, ()))
            case Values() | Round():
                return node
            case Recursive(_, base, step):
                return with_sources(node, (place(base, {}), place(step, {})))
            case Join(left, right):
                to_left, to_right = _across(node, known, provides_once)
                return with_sources(node, (place(left, to_left), place(right, to_right)))
            case UnionAll(inputs):
                return with_sources(node, tuple(place(source, known) for source in inputs))
            case SetOperation(left, right):
                return with_sources(node, (place(left, known), place(right, known)))
            case Project(source, columns):
                below = _renamed(columns, known)
            case Aggregate(source, keys):
                below = _renamed(keys, known)
            case Window(source):
                below = _partition(node, known)
            case Limit(source):
                below = {}
            case Filter(source) | Distinct(source) | Generate(source):
                below = _within(known, source)
            case _:
                assert_never(node)
        return with_sources(node, (place(source, below),))

    return place(plan, {})


def _input(leaf: Scan | Changes, name: str) -> Scan:
    # The input shows its columns under the plan's names already.
    columns = tuple(ScanColumn(c.name, c.name, c.type) for c in leaf.columns)
    if isinstance(leaf, Changes):
        columns = (*columns, ScanColumn(WEIGHT, WEIGHT, "bigint"))
    return Scan(STEP_PREFIX + name, columns, At.AFTER)


def _across(join: Join, known: Known, provides: Callable[[Plan], Known]) -> tuple[Known, Known]:
    """What is known of the columns of a join's left and right input: from above, and each from the other."""
    left, right, kind = join.left, join.right, join.kind
    provided_left, provided_right = provides(left), provides(right)
    to_left = dict(_within(known, left)) if kind not in (JoinKind.RIGHT, JoinKind.FULL) else {}
    to_right = dict(_within(known, right)) if kind in (JoinKind.INNER, JoinKind.RIGHT) else {}
    for a, b, null_safe in _alike(join.condition, left, right):
        from_left = provided_left.get(a) or to_left.get(a)
        from_right = provided_right.get(b) or to_right.get(b)
        if from_right is not None and kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.RIGHT):
            to_left.setdefault(a, _weaker(from_right, null_safe))
        if from_left is not None and kind not in (JoinKind.RIGHT, JoinKind.FULL):
            to_right.setdefault(b, _weaker(from_left, null_safe))
    return to_left, to_right


def _alike(condition: exp.Expr | None, left: Plan, right: Plan) -> Iterator[tuple[str, str, bool]]:
    """The columns that must be equal as they are: where a comparison casts, two values that equal a third one may differ."""
    for a, b, null_safe in equal_columns(condition, left, right):
        kinds = {_kind(types_of(left).get(a)), _kind(types_of(right).get(b))}
        if len(kinds) == 1 and None not in kinds:
            yield a, b, null_safe


def _kind(type_: str | None) -> str | None:
    """Integers of any width are equal as numbers, texts of any length as texts."""
    if type_ in INTEGRAL:
        return "integer"
    return "string" if type_ is not None and type_.startswith("varchar(") else type_


def _order(bound: Bound) -> tuple[str, str, str]:
    return bound.column, bound.step, bound.step_column


def provides(plan: Plan, leaf_name: LeafName, below: Callable[[Plan], Known]) -> Known:
    """The output columns of ``plan`` whose every value occurs in a column of a small relation; ``below``: of its inputs."""
    match plan:
        case Changes():
            return {name: Origin(leaf_name(plan), name) for name in plan.names if name != WEIGHT}
        case Scan(table):
            return {name: Origin(leaf_name(plan), name) for name in plan.names} if table.startswith(STEP_PREFIX) else {}
        case Project(source, columns):
            own = below(source)
            return {c.name: own[c.expression.name] for c in columns if _is_column(c) and c.expression.name in own}
        case Aggregate(source, keys, _):
            own = below(source)
            return {k.name: own[k.expression.name] for k in keys if _is_column(k) and k.expression.name in own}
        case Filter(source) | Distinct(source) | Limit(source) | Generate(source) | Window(source):
            return below(source)
        case Join(left, right, kind, condition):
            result: dict[str, Origin] = {}
            if kind in (JoinKind.INNER, JoinKind.SEMI, JoinKind.LEFT, JoinKind.ANTI):
                result |= below(left)
            if kind in (JoinKind.INNER, JoinKind.RIGHT):
                result |= below(right)
            if kind in (JoinKind.INNER, JoinKind.SEMI):
                from_right = below(right)
                for a, b, null_safe in _alike(condition, left, right):
                    if b in from_right:
                        result.setdefault(a, _weaker(from_right[b], null_safe))
                    if a in result and kind is JoinKind.INNER:
                        result.setdefault(b, _weaker(result[a], null_safe))
            return result
        case _:
            return {}


def _renamed(columns: tuple[Named, ...], known: Known) -> Known:
    return {c.expression.name: known[c.name] for c in columns if _is_column(c) and c.name in known}


def _within(known: Known, plan: Plan) -> Known:
    if not known:
        return known
    names = frozenset(plan.names)
    return {name: origin for name, origin in known.items() if name in names}


def _partition(window: Window, known: Known) -> Known:
    """Only columns by which every function is partitioned: other rows of a partition still count."""
    common = {part.name for part in common_partition(window) if isinstance(part, exp.Column)}
    return {name: origin for name, origin in known.items() if name in common}


def _is_column(named: Named) -> bool:
    return isinstance(named.expression, exp.Column)


def _weaker(origin: Origin, null_safe: bool) -> Origin:
    return Origin(origin.relation, origin.column, origin.null_safe or null_safe)
