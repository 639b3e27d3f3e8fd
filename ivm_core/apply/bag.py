"""BAG: append the copies that a batch adds and remove exactly as many equal rows as it takes away.

Equal rows are stored several times, told apart by the pair (BATCH_COLUMN, ROW_COLUMN).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm_core.apply.names import (
    NO_ODD,
    SOURCE,
    TARGET,
    Odd,
    call,
    case,
    col,
    drift,
    named,
    number,
    same,
    table,
    to_type,
    value,
)
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN
from ivm_core.plan.nodes import WEIGHT

NEEDED = "__ivm_needed"  # copies that the batch takes away
COPY = "__ivm_copy"  # position of a stored row among the rows equal to it
IS_NEW = "__ivm_is_new"
_NEGATIVE = "the batch takes away more copies of a row than are stored"


def repeat_rows(columns: Sequence[str], weighted: str, batch_number: int) -> exp.Query:
    """Each row of a relation with positive weights, as often as its weight says, with new id columns."""
    copies = exp.select(*(col(name) for name in columns), _explode(col(WEIGHT))).from_(table(weighted))
    return _numbered(columns, copies.where(_positive()), batch_number)


def rewrite_state(columns: Sequence[str], state: str, weighted: str, batch_number: int, odd: Odd = NO_ODD) -> exp.Query:
    """All rows of the new state: stored rows (weight 1 each) and changes, netted, each repeated by its weight."""
    stored = exp.select(*(col(name) for name in columns), named(to_type(number(1), "bigint"), WEIGHT))
    changes = exp.select(*(col(name) for name in columns), col(WEIGHT)).from_(table(weighted))
    both = exp.union(stored.from_(table(state)), changes, distinct=False)
    netted = _netted(columns, both, odd)
    # A negative sum must fail before it is taken as a number of copies.
    checked = case((exp.LT(this=col(WEIGHT), expression=number(0)), drift(_NEGATIVE)), otherwise=col(WEIGHT))
    copies = exp.select(*(col(name) for name in columns), _explode(checked)).from_(netted.subquery("netted"))
    copies = copies.where(exp.NEQ(this=col(WEIGHT), expression=number(0)))
    return _numbered(columns, copies, batch_number)


def victims(columns: Sequence[str], state: str, weighted: str, odd: Odd = NO_ODD) -> exp.Query:
    """The id columns of the stored rows that the batch takes away: of each changed row, as many copies as needed."""
    ids = (BATCH_COLUMN, ROW_COLUMN)
    changes = exp.select(*(col(name) for name in columns), col(WEIGHT)).from_(table(weighted))
    needed = exp.select(*(col(name) for name in columns), named(exp.Neg(this=col(WEIGHT)), NEEDED)).from_(
        _netted(columns, changes, odd).subquery("netted")
    )
    needed = needed.where(exp.LT(this=col(WEIGHT), expression=number(0)))
    position = exp.Window(
        this=exp.RowNumber(),
        partition_by=[value(name, odd, TARGET) for name in columns],
        order=exp.Order(expressions=[exp.Ordered(this=col(name, TARGET)) for name in ids]),
    )
    matched = (
        exp.select(
            *(named(col(name, TARGET), name) for name in ids),
            named(col(NEEDED, SOURCE), NEEDED),
            named(position, COPY),
        )
        .from_(table(state, TARGET))
        .join(needed.subquery(SOURCE), on=same(TARGET, SOURCE, columns, odd), join_type="inner")
    )
    return (
        exp.select(*(col(name) for name in ids))
        .from_(matched.subquery("matched"))
        .where(exp.LTE(this=col(COPY), expression=col(NEEDED)))
    )


def source_of_merge(
    columns: Sequence[str], weighted: str, found: str, batch_number: int, odd: Odd = NO_ODD
) -> exp.Query:
    """The MERGE's source: victims (their ids alone) and new rows, told apart by ``IS_NEW``."""
    ids = (BATCH_COLUMN, ROW_COLUMN)
    changes = exp.select(*(col(name) for name in columns), col(WEIGHT)).from_(table(weighted))
    netted = _netted(columns, changes, odd).subquery("netted")
    copies = exp.select(*(col(name) for name in columns), _explode(col(WEIGHT))).from_(netted).where(_positive())
    added = _numbered(columns, copies, batch_number).select(named(exp.true(), IS_NEW))
    # A typed NULL for each visible column: the types come from the other branch of the union.
    removed = exp.select(
        *(named(exp.Null(), name) for name in columns), *(col(name) for name in ids), named(exp.false(), IS_NEW)
    ).from_(table(found))
    return exp.union(added, removed, distinct=False)


def merge_into_state(
    columns: Sequence[str], target: exp.Table, source: str, pruning: exp.Expr | None = None
) -> exp.Merge:
    """The MERGE that deletes the victims and inserts the new rows in one commit."""
    names = (*columns, BATCH_COLUMN, ROW_COLUMN)
    on = exp.and_(
        exp.Not(this=col(IS_NEW, SOURCE)),
        *(exp.EQ(this=col(name, TARGET), expression=col(name, SOURCE)) for name in (BATCH_COLUMN, ROW_COLUMN)),
    )
    insert = exp.Insert(
        this=exp.Tuple(expressions=[col(name) for name in names]),
        expression=exp.Tuple(expressions=[col(name, SOURCE) for name in names]),
    )
    return exp.Merge(
        this=exp.alias_(target, TARGET, table=True),
        using=table(source, SOURCE),
        on=exp.and_(on, pruning) if pruning is not None else on,
        whens=exp.Whens(
            expressions=[
                exp.When(matched=True, source=False, then=exp.Var(this="DELETE")),
                exp.When(matched=False, source=False, condition=col(IS_NEW, SOURCE), then=insert),
            ]
        ),
    )


def any_of(name: str, odd: Odd) -> exp.Expr:
    """The column of rows that are grouped by its value."""
    return named(exp.AnyValue(this=col(name)), name) if name in odd else col(name)


def _netted(columns: Sequence[str], rows: exp.Query, odd: Odd) -> exp.Select:
    shown = (any_of(name, odd) for name in columns)
    summed = named(exp.Sum(this=col(WEIGHT)), WEIGHT)
    return exp.select(*shown, summed).from_(rows.subquery("weighted")).group_by(*(value(n, odd) for n in columns))


def _explode(copies: exp.Expr) -> exp.Expr:
    return named(call("explode", call("sequence", to_type(number(1), "bigint"), copies)), COPY)


def _numbered(columns: Sequence[str], copies: exp.Select, batch_number: int) -> exp.Select:
    return exp.select(
        *(col(name) for name in columns),
        named(to_type(number(batch_number), "bigint"), BATCH_COLUMN),
        named(call("monotonically_increasing_id"), ROW_COLUMN),
    ).from_(copies.subquery("copies"))


def _positive() -> exp.Expr:
    return exp.GT(this=col(WEIGHT), expression=number(0))
