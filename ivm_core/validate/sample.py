"""Which rows of a state a sampled validation compares: whole groups, or rows, by the hash of their keys.

Both sides are cut by the same condition, so that a row is compared with its counterpart or neither is. ``salt`` changes
with every batch: in time the samples reach everything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from ivm_core.apply.names import call, col, number

PARTS = 1_000_000
# Equal values of these may hash differently, or sums come out differently in their last bits; maps have no hash.
_UNFIT = ("double", "float", "map<", "variant", "collate", "geo", "void")


def sample_condition(types: Mapping[str, str], keys: Collection[str], share: float, salt: int) -> exp.Expr | None:
    """The condition for ``share`` of the groups with these keys, or of the rows where there are no keys; None: no sample.

    ``types``: the Spark types of the state's columns.
    """
    fit = [name for name in (keys or types) if not any(word in types[name].lower() for word in _UNFIT)]
    if not fit or share >= 1:
        return None
    hashed = call("xxhash64", number(salt), *(col(name) for name in fit))
    return exp.LT(this=call("pmod", hashed, number(PARTS)), expression=number(max(1, round(share * PARTS))))
