"""Relations without rows: which plans are known to have none, and how such a relation is written."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from ivm_core.plan.nodes import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Generate,
    Join,
    JoinKind,
    Limit,
    Plan,
    Project,
    Scan,
    SetKind,
    SetOperation,
    UnionAll,
    Values,
    Window,
)
from ivm_core.plan.normalize_conditions import is_false
from ivm_core.plan.remembered import remembered
from ivm_core.plan.rewrite import transform_up
from ivm_core.plan.types_plan import types_of


def _is_empty(plan: Plan) -> bool:
    """Whether the plan has no rows, whatever its tables hold; a global aggregate has one."""
    match plan:
        case Values():
            return not plan.rows
        case Filter(source, condition):
            return is_false(condition) or is_empty(source)
        case Project(source) | Distinct(source) | Window(source) | Generate(source) | Limit(source):
            return is_empty(source)
        case Aggregate(source, keys):
            return bool(keys) and is_empty(source)
        case UnionAll(inputs):
            return all(is_empty(source) for source in inputs)
        case SetOperation(left, right, kind):
            return is_empty(left) or (kind is SetKind.INTERSECT and is_empty(right))
        case Join(left, right, kind):
            return _has_no_pairs(kind, is_empty(left), is_empty(right))
        case _:
            return False


# Each rewriting asks it of each operator.
is_empty = remembered(_is_empty)


def without_rows(plan: Plan) -> Plan:
    """The relation of no rows under the plan's names and types.

    Where a type is not known here, that is the plan itself over empty tables: Spark then gives the column its own type, and
    whatever meets it in a union the one that both have.
    """
    types = types_of(plan)
    if None not in types.values():
        return Values(plan.names, tuple(str(types[name]) for name in plan.names))
    return Filter(transform_up(plan, _emptied), exp.false())


def _emptied(plan: Plan) -> Plan:
    if not isinstance(plan, Scan | Changes | Values):
        return plan
    types = types_of(plan)
    return Values(plan.names, tuple(types[name] or "void" for name in plan.names))


def _has_no_pairs(kind: JoinKind, no_left: bool, no_right: bool) -> bool:
    match kind:
        case JoinKind.INNER | JoinKind.SEMI:
            return no_left or no_right
        case JoinKind.ANTI | JoinKind.LEFT:
            return no_left
        case JoinKind.RIGHT:
            return no_right
        case JoinKind.FULL:
            return no_left and no_right
        case _:
            assert_never(kind)
