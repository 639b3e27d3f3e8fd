"""OVERWRITE: the step's rows become the state.

Of a state that this process holds only the rows that differ are a change: a view above reads those, and not all rows twice.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ivm_core.apply.names import call, col, named, signed
from ivm_core.cost.model import Reason
from ivm_core.engine import commit, rows_here
from ivm_core.engine.model import LENGTH, Applied, State
from ivm_core.engine.queries import types_of_rows
from ivm_core.engine.snapshots import quoted
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ivm_core.engine.direct import DirectState
    from ivm_core.engine.write import Writing

logger = logging.getLogger(__name__)

# Rows of a state up to which this process takes no longer than Spark, and the bytes that they have in memory.
_MOST_ROWS = 1_500_000
_MOST_HELD = 256 * 1024**2
# Rows more than are stored, where few are: how wide rows are is not known of them.
_FEW_MORE = 20_000
# Whoever asks for a refresh, or needs one because something is wrong, gets a table of which nothing is left as it was.
_ANEW = frozenset(
    {
        Reason.FIRST_BUILD,
        Reason.REQUESTED,
        Reason.REPAIRED,
        Reason.STATE_CHANGED,
        Reason.PLAN_CHANGED,
        Reason.HISTORY_GONE,
    }
)


def may_keep_rows(reason: Reason, state: State) -> bool:
    """Whether a job that computes the whole state, for this reason, may leave stored rows that are right as they are."""
    return reason not in _ANEW and state.rows is not None and state.rows <= _MOST_ROWS


def write_whole(writing: Writing) -> Applied:
    """Make the commit. Where anything is odd about what is stored, Spark overwrites it."""
    step = writing.relations.select(exp.select("*").from_(exp.to_table(writing.write.step)))
    frame = step.select(*(quoted(name) for name in writing.write.columns))
    applied = _replace_here(writing, frame)
    if applied is not None:
        return applied
    if writing.write.identified:
        identity = (signed(writing.batch_number, BATCH_COLUMN), named(call("monotonically_increasing_id"), ROW_COLUMN))
        frame = frame.selectExpr("*", *(column.sql("spark") for column in identity))
    commit.overwrite(_without_lengths(frame), writing.state, writing.tag)
    return Applied(counted=False)


def _without_lengths(frame: DataFrame) -> DataFrame:
    """The same rows, whose texts may have any length.

    Delta takes the CHAR(n) or VARCHAR(n) of the column that one comes from over into the state, and holds all that is written
    later to it, be it of another branch of a union, or longer since that column is.
    """
    limited = {field.name for field in frame.schema.fields if LENGTH in field.metadata}
    if not limited:
        return frame
    plain = (named(call("coalesce", col(n)), n) if n in limited else col(n) for n in frame.columns)
    return frame.selectExpr(*(column.sql("spark") for column in plain))


def _replace_here(writing: Writing, frame: DataFrame) -> Applied | None:
    """Write the rows by this process; None where Spark does: of many rows, other columns, and a state that cannot be read."""
    direct, columns, identified = writing.direct, writing.write.columns, writing.write.identified
    if direct is None or not writing.is_held(_MOST_ROWS) or not _has_columns(direct, frame, identified=identified):
        return None
    apart = direct.whole()
    if apart is None or apart.shown.nbytes > _MOST_HELD:
        return None
    rows = writing.collect(frame, apart, more=max(_FEW_MORE, apart.shown.num_rows))
    fitted = direct.fitted(rows, columns) if rows is not None else None
    if fitted is None:
        return None
    try:
        if identified:
            fitted = rows_here.bag_of(apart.shown, fitted, columns, writing.batch_number)
        return Applied(inserted=fitted.num_rows).at(direct.replace(apart, fitted, writing.tag))
    except pa.ArrowException as error:  # texts of more than 2 GiB, say; nothing is committed then
        logger.info("%s is overwritten by Spark: %s", writing.state.location, error)
        return None


def _has_columns(direct: DirectState, frame: DataFrame, *, identified: bool) -> bool:
    """Whether the state's columns are the frame's and, of a bag, those that tell its rows apart; all may be NULL."""
    stored = direct.schema
    if identified:
        ids = [(name, pa.int64()) for name in (BATCH_COLUMN, ROW_COLUMN)]
        if [(field.name, field.type) for field in stored][-2:] != ids:
            return False
    if not all(field.nullable for field in stored):
        return False
    types = [(field.name, field.dataType) for field in types_of_rows(stored.empty_table()).fields]
    return types[: len(types) - 2 * identified] == [(field.name, field.dataType) for field in frame.schema.fields]
