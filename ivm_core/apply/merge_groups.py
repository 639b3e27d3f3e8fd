"""MERGE_GROUPS: add a batch's accumulators to the stored groups, by rewriting a small state or by MERGE.

The counting algorithm's invariant is checked in the same statement: a group's count is never negative, and a group
without rows has sums of zero. A state that breaks it differs from its query, so the statement fails and commits nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ivm_core.apply.names import SOURCE, TARGET, all_of, call, case, col, drift, named, number, same, table, to_type
from ivm_core.job.model import Combine, MergeColumn, Write

ANY_GROUP = "__ivm_any"  # stands in for the keys of an aggregate without keys
ORIGIN = "__ivm_origin"  # where a row of a rewritten state comes from, as bits
STORED, BATCH, ANEW = 1, 2, 4
REPLACE = "__ivm_replace"  # rows of the MERGE's source that hold a group's whole new state
_NEGATIVE = "a group has lost more rows than it had"
_LEFT_OVER = "a group without rows has a sum left over"


def accumulators(write: Write) -> tuple[MergeColumn, ...]:
    """All accumulators, the count of rows among them."""
    if any(column.name == write.count for column in write.merge):
        return write.merge
    return (MergeColumn(write.count, Combine.ADD, "bigint"), *write.merge)


def rewrite_with_origin(write: Write, state: str, batch: str) -> exp.Select:
    """All rows of the new state, each with the column ``ORIGIN``."""
    parts = _parts(write, {state: STORED, batch: BATCH})
    origin = named(call("bit_or", col(ORIGIN)), ORIGIN)
    return _combined_and_checked(write, parts, _combined, origin).select(col(ORIGIN))


def rewrite_state(write: Write, state: str, batch: str, recomputed: str | None = None) -> exp.Query:
    """All rows of the new state: stored groups and the batch's, combined by key.

    ``recomputed`` names whole rows of groups that replace whatever the two others say of the same keys; it is read once.
    """
    if recomputed is None:
        return _combined_and_checked(write, _parts(write, {state: STORED, batch: BATCH}), _combined)
    if not write.keys:
        # The one group there is was computed anew.
        return exp.select(*(col(column.name) for column in accumulators(write))).from_(table(recomputed))
    parts = _parts(write, {state: STORED, batch: BATCH, recomputed: ANEW})
    return _combined_and_checked(write, parts, _replaced_or_combined)


def _parts(write: Write, relations: Mapping[str, int]) -> exp.Query:
    """The union of relations of groups, with the origin of each row."""
    names = (*write.keys, *(column.name for column in accumulators(write)))
    parts = [
        exp.select(*(col(name) for name in names), named(number(origin), ORIGIN)).from_(table(relation))
        for relation, origin in relations.items()
    ]
    return exp.union(*parts, distinct=False)


def _combined_and_checked(
    write: Write, parts: exp.Query, combine: Callable[[MergeColumn], exp.Expr], *more: exp.Expr
) -> exp.Select:
    """The union of stored groups and a batch's, combined by key; ``more`` columns are computed beside."""
    columns = accumulators(write)
    combined = exp.select(
        *(col(key) for key in write.keys), *(named(combine(column), column.name) for column in columns), *more
    ).from_(parts.subquery("parts"))
    if write.keys:
        combined = combined.group_by(*(col(key) for key in write.keys))
    checked = exp.select(
        *(col(key) for key in write.keys),
        *(
            named(_checked(write, col(write.count), [col(c.name) for c in _exact(write)]), column.name)
            if column.name == write.count
            else col(column.name)
            for column in columns
        ),
    ).from_(combined.subquery("combined"))
    if not write.keep_empty:
        # A group left over with sums is not filtered: its count raises.
        checked = checked.where(_alive(write))
    return checked


def merge_into_state(
    write: Write, target: exp.Table, source: str, *, with_replaced: bool = False, pruning: exp.Expr | None = None
) -> exp.Merge:
    """The MERGE that adds the rows of ``source`` to the state table.

    ``with_replaced``: the source has a boolean column ``REPLACE``, true where the row is a group's whole new state.
    ``pruning``: a predicate on ``TARGET``'s columns alone that no touched group fails.
    """
    columns = accumulators(write)
    added = {c.name: _added(c) for c in columns}
    total = added[write.count].copy()
    sums = [added[c.name].copy() for c in _exact(write)]
    # Two instances: a tree has one parent.
    whens = []
    if with_replaced:
        whens.append(_when(True, col(REPLACE, SOURCE), _update({c.name: col(c.name, SOURCE) for c in columns})))
    if not write.keep_empty:
        gone = all_of(exp.EQ(this=value.copy(), expression=number(0)) for value in (total, *sums))
        whens.append(_when(True, gone, exp.Var(this="DELETE")))
    update = {c.name: added[c.name].copy() for c in columns}
    update[write.count] = _checked(write, total, sums)
    whens.append(_when(True, None, _update(update)))
    names = (*write.keys, *(c.name for c in columns))
    insert: dict[str, exp.Expr] = {name: col(name, SOURCE) for name in names}
    insert[write.count] = _checked(write, col(write.count, SOURCE), [col(c.name, SOURCE) for c in _exact(write)])
    alive = None if write.keep_empty else _alive(write, SOURCE)
    whens.append(
        _when(
            False,
            alive,
            exp.Insert(
                this=exp.Tuple(expressions=[col(name) for name in names]),
                expression=exp.Tuple(expressions=[insert[name] for name in names]),
            ),
        )
    )
    on = same(TARGET, SOURCE, write.keys)
    return exp.Merge(
        this=exp.alias_(target, TARGET, table=True),
        using=table(source, SOURCE),
        on=exp.and_(on, pruning) if pruning is not None else on,
        whens=exp.Whens(expressions=whens),
    )


def lost_extremes(write: Write, state: str, batch: str) -> exp.Query:
    """The keys of the groups that may have lost their least or greatest value and are still there.

    A deleted value that reaches neither the stored extreme nor the inserted one cannot have been it. Comparing with
    both also covers a value that one part of the batch inserts and another deletes.
    """
    suspicious = []
    for column in write.merge:
        if column.combine is Combine.ADD or not column.deleted:
            continue
        deleted = col(column.deleted, SOURCE)
        extreme = _added(column)
        reaches = exp.LTE if column.combine is Combine.LEAST else exp.GTE
        suspicious.append(
            exp.and_(
                exp.Not(this=exp.Is(this=deleted, expression=exp.Null())),
                exp.or_(
                    exp.Is(this=extreme, expression=exp.Null()),
                    reaches(this=deleted.copy(), expression=extreme.copy()),
                ),
            )
        )
    keys = [named(col(key, SOURCE), key) for key in write.keys] or [named(exp.true(), ANY_GROUP)]
    found = (
        exp.select(*keys)
        .from_(table(batch, SOURCE))
        .join(table(state, TARGET), on=same(TARGET, SOURCE, write.keys), join_type="left")
        .where(exp.Paren(this=exp.or_(*suspicious)))
    )
    if write.keep_empty:
        # Without rows its extremes are NULL, which only a computation tells.
        return found
    stored = exp.Coalesce(this=col(write.count, TARGET), expressions=[number(0)])
    count = exp.Paren(this=exp.Add(this=stored, expression=col(write.count, SOURCE)))
    return found.where(exp.GT(this=count, expression=number(0)))


def source_with_replaced(write: Write, batch: str, recomputed: str) -> exp.Query:
    """The MERGE's source where groups were recomputed: their whole rows, and the batch's accumulators of the others."""
    names = (*write.keys, *(column.name for column in accumulators(write)))
    changes = exp.select(*(named(col(name, SOURCE), name) for name in names), named(exp.false(), REPLACE))
    others = changes.from_(table(batch, SOURCE)).join(
        table(recomputed, "again"), on=same(SOURCE, "again", write.keys), join_type="left anti"
    )
    whole = exp.select(*(col(name) for name in names), named(exp.true(), REPLACE)).from_(table(recomputed))
    return exp.union(others, whole, distinct=False)


def _combined(column: MergeColumn) -> exp.Expr:
    return _over_group(column, col(column.name))


def _replaced_or_combined(column: MergeColumn) -> exp.Expr:
    """The value of the row that was computed anew, where the group has one."""
    anew = exp.EQ(this=col(ORIGIN), expression=number(ANEW))
    is_replaced = exp.EQ(this=exp.Max(this=col(ORIGIN)), expression=number(ANEW))
    whole = exp.Max(this=case((anew, col(column.name)), otherwise=exp.Null()))
    others = case((anew.copy(), exp.Null()), otherwise=col(column.name))
    return case((is_replaced, whole), otherwise=_over_group(column, others))


def _over_group(column: MergeColumn, value: exp.Expr) -> exp.Expr:
    match column.combine:
        case Combine.ADD:
            return to_type(exp.Sum(this=value), column.type)
        case Combine.LEAST:
            return exp.Min(this=value)
        case Combine.GREATEST:
            return exp.Max(this=value)


def _added(column: MergeColumn) -> exp.Expr:
    stored, change = col(column.name, TARGET), col(column.name, SOURCE)
    match column.combine:
        case Combine.ADD:
            total = exp.Add(this=stored, expression=change)
            # NULL is "no value yet" on either side.
            return to_type(exp.Coalesce(this=total, expressions=[stored.copy(), change.copy()]), column.type)
        case Combine.LEAST:
            return call("least", stored, change)
        case Combine.GREATEST:
            return call("greatest", stored, change)


def _exact(write: Write) -> tuple[MergeColumn, ...]:
    """The accumulators that must be zero in a group without rows: sums of exact types."""
    return tuple(
        column
        for column in accumulators(write)
        if column.combine is Combine.ADD and column.name != write.count and column.type not in ("double", "float")
    )


def _alive(write: Write, relation: str = "") -> exp.Expr:
    values = [col(column.name, relation) for column in (_count(write), *_exact(write))]
    return exp.Paren(this=exp.or_(*(exp.NEQ(this=value, expression=number(0)) for value in values)))


def _count(write: Write) -> MergeColumn:
    return next(column for column in accumulators(write) if column.name == write.count)


def _checked(write: Write, count: exp.Expr, sums: list[exp.Expr]) -> exp.Expr:
    """The count, or an error where it or the sums are impossible."""
    branches: list[tuple[exp.Expr, exp.Expr]] = [(exp.LT(this=count.copy(), expression=number(0)), drift(_NEGATIVE))]
    if sums:
        left_over = exp.or_(*(exp.NEQ(this=value.copy(), expression=number(0)) for value in sums))
        empty = exp.EQ(this=count.copy(), expression=number(0))
        branches.append((exp.and_(empty, exp.Paren(this=left_over)), drift(_LEFT_OVER)))
    return case(*branches, otherwise=count.copy())


def _when(matched: bool, condition: exp.Expr | None, then: exp.Expr) -> exp.When:
    return exp.When(matched=matched, source=False, condition=condition, then=then)


def _update(values: dict[str, exp.Expr]) -> exp.Update:
    return exp.Update(expressions=[exp.EQ(this=col(name, TARGET), expression=value) for name, value in values.items()])
