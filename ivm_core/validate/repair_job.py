"""The job that mends a view's state: the rows, or the groups, in which it differs from its query, and no others.

The whole state is compared, hidden accumulators included, so that a mended group is right for the batches to come. The
query is computed once; what is written is what differs.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ivm_core.apply.names import col, drift, named, number, same, table, to_type
from ivm_core.cost.model import Reason, Strategy
from ivm_core.delta.state import StateKind
from ivm_core.job.build import full_job
from ivm_core.job.compile import CompiledView
from ivm_core.job.model import STORED_ROWS, VANISHED, Input, MaintenanceJob, Slice, Step, Write, WriteKind
from ivm_core.plan.nodes import WEIGHT
from ivm_core.plan.schema import types_of
from ivm_core.plan.types import holds_variants
from ivm_core.validate.bag_difference import COPIES, bag_difference

_DIFFERENCE, _CHANGES = "state_difference", "state_changes"
_FOUND, _SAME = "found", "same"
_TWICE = "a group is stored more than once"


def repair_job(view: CompiledView) -> MaintenanceJob | None:
    """The job for a batch whose tables stand still. None where the state is one group, or has variants, which no GROUP BY
    compares: then it is computed anew.

    The job fails as drift where a group is stored more than once: no write by keys can mend that.
    """
    whole, layout = full_job(view, Reason.REPAIRED), view.layout
    columns = layout.stored.names
    if any(holds_variants(type_) for type_ in types_of(layout.stored).values()):
        return None
    difference = bag_difference(whole.write.step, STORED_ROWS, columns)
    if layout.kind is StateKind.BAG:
        steps: tuple[Step, ...] = (_step(_CHANGES, _weighted(columns, difference), "the rows that differ"),)
        write = Write(WriteKind.BAG, _CHANGES, columns=columns)
    elif layout.keys:
        steps = (
            _step(_DIFFERENCE, difference, "the groups that differ: right (positive) and found (negative)"),
            _step(_CHANGES, _group_rows(columns, layout.keys), "the right rows of the groups that differ"),
        )
        write = Write(WriteKind.REPLACE_GROUPS, _CHANGES, keys=layout.keys, columns=columns)
    else:
        return None
    found = Input(STORED_ROWS, view.name, Slice.STORED, ())
    return MaintenanceJob(
        view.name,
        view.fingerprint,
        Strategy.REPAIR,
        Reason.REPAIRED,
        (),
        (*whole.inputs, found),
        (*whole.steps, *steps),
        write,
    )


def _weighted(columns: Sequence[str], difference: exp.Query) -> exp.Query:
    return exp.select(*(col(name) for name in columns), named(col(COPIES), WEIGHT)).from_(difference.subquery(_FOUND))


def _group_rows(columns: Sequence[str], keys: Sequence[str]) -> exp.Query:
    """The right rows; the rows found of groups that there are not; a failure for any group found more than once."""
    right = _rows(columns, exp.GT, exp.false())
    gone = _rows(columns, exp.LT, exp.true()).join(
        _rows(keys, exp.GT).subquery(_SAME), on=same(_FOUND, _SAME, keys), join_type="left anti"
    )
    stored = exp.select(*(col(name) for name in keys)).from_(table(STORED_ROWS)).group_by(*(col(name) for name in keys))
    twice = stored.having(exp.GT(this=exp.Count(this=exp.Star()), expression=number(1)))
    failing = _rows(columns, exp.LT, to_type(drift(_TWICE), "boolean")).join(
        twice.subquery(_SAME), on=same(_FOUND, _SAME, keys), join_type="left semi"
    )
    return exp.union(exp.union(right, gone, distinct=False), failing, distinct=False)


def _rows(columns: Sequence[str], sign: type[exp.Binary], vanished: exp.Expr | None = None) -> exp.Select:
    flag = () if vanished is None else (named(vanished, VANISHED),)
    rows = exp.select(*(named(col(name, _FOUND), name) for name in columns), *flag).from_(table(_DIFFERENCE, _FOUND))
    return rows.where(sign(this=col(COPIES, _FOUND), expression=number(0)))


def _step(name: str, query: exp.Query, comment: str) -> Step:
    return Step(name, query.sql("spark", pretty=True), comment)
