"""OVERWRITE: the step's rows become the state.

Of a state that this process holds only the rows that differ are a change: a view above reads those, and not all rows twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake.exceptions import DeltaError
from sqlglot import exp

from ivm_core.apply.names import call, named, signed
from ivm_core.engine import commit, rows_here
from ivm_core.engine.model import Applied
from ivm_core.engine.queries import types_of_rows
from ivm_core.engine.snapshots import quoted
from ivm_core.job.model import BATCH_COLUMN, ROW_COLUMN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ivm_core.engine.direct import DirectState
    from ivm_core.engine.state_files import Apart
    from ivm_core.engine.write import Writing

# Rows of a state up to which this process takes no longer than Spark.
_MOST_ROWS = 1_500_000


def write_whole(writing: Writing) -> Applied:
    """Make the commit. Whatever the state is, its table may be damaged too: a refresh is what mends it."""
    step = writing.relations.select(exp.select("*").from_(exp.to_table(writing.write.step)))
    frame = step.select(*(quoted(name) for name in writing.write.columns))
    applied = _replace_here(writing, frame)
    if applied is not None:
        return applied
    if writing.write.identified:
        identity = (signed(writing.batch_number, BATCH_COLUMN), named(call("monotonically_increasing_id"), ROW_COLUMN))
        frame = frame.selectExpr("*", *(column.sql("spark") for column in identity))
    commit.overwrite(frame, writing.state, writing.tag)
    return Applied(counted=False)


def _replace_here(writing: Writing, frame: DataFrame) -> Applied | None:
    """Write the rows by this process; None where Spark does: of many rows, other columns, and a state that cannot be read."""
    direct, columns = writing.direct, writing.write.columns
    if direct is None or not writing.is_held(_MOST_ROWS):
        return None
    if not _has_columns(direct, frame, identified=writing.write.identified):
        return None
    apart = _stored(direct)
    rows = writing.collect(frame, apart) if apart is not None else None
    fitted = direct.fitted(rows, columns) if rows is not None else None
    if apart is None or fitted is None:
        return None
    if writing.write.identified:
        fitted = rows_here.bag_of(apart.shown, fitted, columns, writing.batch_number)
    return Applied(inserted=fitted.num_rows).at(direct.replace(apart, fitted, writing.tag))


def _stored(direct: DirectState) -> Apart | None:
    try:
        return direct.whole()
    except (OSError, pa.ArrowException, DeltaError):
        return None


def _has_columns(direct: DirectState, frame: DataFrame, *, identified: bool) -> bool:
    """Whether the state's columns are the frame's and, of a bag, those that tell its rows apart."""
    stored = [(field.name, field.dataType) for field in types_of_rows(direct.schema.empty_table()).fields]
    if identified:
        if [name for name, _ in stored[-2:]] != [BATCH_COLUMN, ROW_COLUMN]:
            return False
        stored = stored[:-2]
    return stored == [(field.name, field.dataType) for field in frame.schema.fields]
