"""Whether a table's columns are the same over a range of versions: column mapping lets one come in the place of another."""

from __future__ import annotations

from collections.abc import Collection

from ivm_core.batch.classify import KEEPS_COLUMNS, REPLACE_OPERATIONS
from ivm_core.batch.model import TableRange
from ivm_core.engine.log import TableLog

_UNMAPS = "REMOVE COLUMN MAPPING"  # writes all files anew under the columns' own names, in a commit without changes


def has_same_columns(log: TableLog, covered: TableRange, columns: Collection[str]) -> bool:
    """Whether none of the columns came in place of another one of its name: no row changes then, but every value."""
    operations = {commit.operation.upper() for commit in log.commits(covered.from_version, covered.to_version)}
    if operations <= KEEPS_COLUMNS:
        return True
    if _UNMAPS in operations:
        return False  # names in files tell nothing across it
    before, after = (log.stored_names(version) for version in (covered.from_version, covered.to_version))
    if before and after:
        return all(before.get(name) == after.get(name) for name in columns)
    # Not to be told of logs that Spark reads. A table without a mapping may have had one before it was restored.
    unmapped = log.properties().get("delta.columnMapping.mode", "none") == "none"
    return unmapped and not operations & REPLACE_OPERATIONS
