"""Affected keys narrowed before large tables are read by them: γ(L ⋉ K) ⋈ P = γ(L ⋉ (K ⋉ π P)) ⋈ P, by the groups' keys.

Where P is filtered, most of the groups that a batch touches meet no row of it, and need not be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sqlglot import exp

from ivm_core.delta.keys import KEY_PREFIX, having_equal, is_restriction
from ivm_core.delta.simplify_keys import push_restriction
from ivm_core.plan.join_graph import equal_columns, equality
from ivm_core.plan.nodes import Aggregate, Filter, Join, JoinKind, Plan, Project, operators
from ivm_core.plan.rewrite import both, conjuncts, transform_up


def narrow_keys(
    source: Plan, other: Plan, conditions: Iterable[exp.Expression], make_step: Callable[[Plan], Plan]
) -> tuple[Plan, Plan]:
    """The two inputs of a join with all K in ``source`` that restrict what is matched with the other's columns narrowed to
    what the other has; the other is then read by these too. ``make_step`` makes K ⋉ π other a step.

    Unchanged where there is no such K.
    """
    whole = having_equal(source, other, conditions, f"{KEY_PREFIX}met_")  # K's own are called KEY_PREFIX and a number
    if whole is None:
        return source, other
    met, restricted = whole.right, push_restriction(whole)
    assert isinstance(met, Aggregate)
    placed = [node for node in operators(restricted) if isinstance(node, Join) and node.right is met]
    found = {id(node): pair for node in placed if (pair := _narrowed(node)) is not None}
    if restricted is whole or len(found) < len(placed):
        return source, other  # somewhere it would be computed on top of all rows
    steps = {narrower: make_step(narrower) for narrower in dict.fromkeys(pair[1] for pair in found.values())}

    def place(node: Plan) -> Plan:
        if not isinstance(node, Join) or id(node) not in found:
            return node
        inner, narrower = found[id(node)]
        return _with_keys(node.left, inner, steps[narrower])

    narrowed = transform_up(restricted, place)
    for restriction in _restrictions(other):
        for narrower, step in steps.items():
            if _same_keys(restriction, narrower, met):
                other = _with_keys(other, restriction, step)
    return narrowed, other


def is_selective(plan: Plan) -> bool:
    """A table's rows of which a condition of the query takes some."""
    match plan:
        case Filter():
            return True
        case Project(source):
            return is_selective(source)
        case Join(left, right, JoinKind.SEMI):
            return is_selective(left) or is_selective(right)
        case _:
            return False


def _narrowed(restriction: Join) -> tuple[Join, Join] | None:
    """Of (L ⋉ K) ⋉ M: L ⋉ K and K ⋉ M; None where K does not have all columns that M is matched with."""
    wanted = tuple(equal_columns(restriction.condition, restriction.left, restriction.right))
    if len(wanted) != len(conjuncts(restriction.condition)):
        return None
    for inner in _restrictions(restriction.left):
        keys = {mine: theirs for mine, theirs, _ in equal_columns(inner.condition, inner.left, inner.right)}
        if all(mine in keys for mine, _, _ in wanted):
            equal = (equality(keys[mine], theirs, null_safe=null_safe) for mine, theirs, null_safe in wanted)
            return inner, Join(inner.right, restriction.right, JoinKind.SEMI, both(*equal))
    return None


def _restrictions(plan: Plan) -> Iterable[Join]:
    """The restrictions to some K that lie on a plan, filters and other semi-joins between them."""
    return filter(is_restriction, semijoins_on(plan))


def semijoins_on(plan: Plan) -> Iterator[Join]:
    """The semi-joins that lie on a plan, filters between them."""
    while True:
        match plan:
            case Join(left, _, JoinKind.SEMI):
                yield plan
                plan = left
            case Filter(inner):
                plan = inner
            case _:
                return


def _same_keys(restriction: Join, narrowed: Join, met: Aggregate) -> bool:
    """Of ``narrowed``, K ⋉ π P by P's columns: whether the restriction is P ⋉ K by no others."""
    if restriction.right != narrowed.left:
        return False
    own = {key.name: key.expression.name for key in met.keys}
    wanted = {own[theirs]: mine for mine, theirs, _ in equal_columns(narrowed.condition, narrowed.left, met)}
    placed = tuple(equal_columns(restriction.condition, restriction.left, restriction.right))
    whole = len(placed) == len(conjuncts(restriction.condition))
    return whole and all(wanted.get(theirs) == key for theirs, key, _ in placed)


def _with_keys(plan: Plan, restriction: Join, keys: Plan) -> Plan:
    """The plan with a restriction on it to other keys of the same names."""

    def exchange(node: Plan) -> Plan:
        if node is restriction:
            return Join(restriction.left, keys, JoinKind.SEMI, restriction.condition)
        return node

    return transform_up(plan, exchange)
