"""Bring back a state as it was at one of its versions: one commit, tagged like every batch's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import deltalake
from deltalake.exceptions import CommitFailedError, DeltaError

from ivm_core.engine import commit
from ivm_core.engine.direct import commit_properties, overtaken
from ivm_core.engine.execute import find_state
from ivm_core.engine.log_files import open_state
from ivm_core.engine.model import CommitTag, StateTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


def restore(spark: Callable[[], SparkSession], target: StateTarget, version: int, tag: CommitTag) -> bool:
    """Make the state's rows those of the version; False where the table already has the tag's batch or a later one.

    Delta's own RESTORE carries no transaction number, so that a batch computed before it could still commit after it.
    Where delta-rs can open the table it makes that commit, with the number and without copying a row; elsewhere the
    rows are written anew. Raises ``ConcurrentCommit``, and ``HistoryGone`` where files are gone.
    """
    table = open_state(target.location)
    # Reading the log of a table that delta-rs can open needs no Spark session.
    state = find_state(None if table is not None else spark(), target, tag)
    if state is None:
        return False
    if table is not None and table.version() == state.version and _restored(table, version, tag):
        return True
    session = spark()
    with commit.typed_failures(target.location):
        rows = session.read.format("delta").option("versionAsOf", version).load(target.location)
        commit.overwrite(rows, state, tag)
    return True


def _restored(table: deltalake.DeltaTable, version: int, tag: CommitTag) -> bool:
    try:
        table.restore(version, commit_properties=commit_properties(tag))
    except CommitFailedError as error:
        raise overtaken(table) from error
    except DeltaError:
        return False  # files are gone: Spark's failure says which
    return True
