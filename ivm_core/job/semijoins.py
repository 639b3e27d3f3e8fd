"""Semijoins of a whole query passed on to the groups beside them: (A ⋉ P) ⋈ γ(B) → (A ⋉ P) ⋈ γ(B ⋉ P), by equal columns.

Written as IN, Spark passes such a condition on by itself; it does not pass on a LEFT SEMI JOIN.
"""

from __future__ import annotations

from dataclasses import replace

from ivm_core.job.chains import restricted
from ivm_core.job.narrow import is_selective, semijoins_on
from ivm_core.plan.join_graph import equal_columns, equality
from ivm_core.plan.nodes import Aggregate, Filter, Join, JoinKind, Plan, Project
from ivm_core.plan.rewrite import conjuncts, transform_up
from ivm_core.plan.schema import types_of


def pass_on_semijoins(plan: Plan) -> Plan:
    """The plan with groups computed for those keys only that a filtered table leaves on the other side of an inner join."""
    return transform_up(plan, _pass_on)


def _pass_on(plan: Plan) -> Plan:
    if not isinstance(plan, Join) or plan.kind is not JoinKind.INNER:
        return plan
    left, right = plan.left, plan.right
    return replace(plan, left=_beside(left, right, plan), right=_beside(right, left, plan))


def _beside(source: Plan, other: Plan, join: Join) -> Plan:
    """``source`` restricted by the semijoins that lie on ``other``."""
    if not _is_grouped(source):
        return source
    equal = {theirs: mine for mine, theirs, null_safe in equal_columns(join.condition, source, other) if not null_safe}
    own, others = types_of(source), types_of(other)
    for semijoin in semijoins_on(other):
        keys = types_of(semijoin.right)
        pairs = tuple(equal_columns(semijoin.condition, semijoin.left, semijoin.right))
        plain = [(equal.get(theirs), theirs, key) for theirs, key, null_safe in pairs if not null_safe]
        if len(plain) < len(conjuncts(semijoin.condition)) or not is_selective(semijoin.right):
            continue
        # Equality carries over only within one type: the number 1 equals both '1' and '01', which are not equal.
        conditions = tuple(
            equality(mine, key, null_safe=False)
            for mine, theirs, key in plain
            if mine is not None and own.get(mine) == others.get(theirs) == keys.get(key) is not None
        )
        if len(conditions) == len(plain):
            source = restricted(source, semijoin.right, conditions)
    return source


def _is_grouped(plan: Plan) -> bool:
    match plan:
        case Aggregate(_, keys):
            return bool(keys)
        case Filter(source) | Project(source):
            return _is_grouped(source)
        case _:
            return False
