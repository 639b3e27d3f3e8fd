"""Predicates on the state table alone, from the values of a batch: what lets Delta Lake skip the state's other files."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm_core.apply.names import TARGET, all_of
from ivm_core.engine.small import SmallRelation, predicate, read_values

_SHORTEST = 10


def key_predicate(batch: SmallRelation, keys: Sequence[str], cap: int, relation: str = TARGET) -> exp.Expr | None:
    """The state's keys are among the batch's, NULL among NULL; None where nothing can be said."""
    # One list for each key: together no longer than one alone may be.
    read_values(batch, list(keys), max(_SHORTEST, cap // max(1, len(keys))))
    conditions = []
    for key in keys:
        known = batch.known(key)
        condition = predicate(key, relation, known, nulls=known.nulls) if known is not None else None
        if condition is not None:
            conditions.append(condition)
    return all_of(conditions) if conditions else None
