"""The one commit of a batch: append, overwrite or MERGE, tagged, with Delta's and our own failures told apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlglot import exp

from ivm_core.apply.names import DRIFT, col, spark_sql
from ivm_core.engine.failures import SPARK_FAILURES, failure_of_rows, names_of_failure
from ivm_core.engine.log_by_spark import delta_path
from ivm_core.engine.model import CommitTag, State
from ivm_core.engine.own_settings import run_with
from ivm_core.errors import ConcurrentCommit, DriftError, HistoryGone, QueryFails

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

_TXN_APP_ID = "spark.databricks.delta.write.txnAppId"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"
_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_AUTO_COMPACT = "spark.databricks.delta.autoCompact.enabled"
# Error conditions of optimistic concurrency control, and the classes of clients that do not pass conditions on.
_CONFLICTS = (
    "DELTA_CONCURRENT_",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
    "ConcurrentAppendException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentDeleteReadException",
    "ConcurrentTransactionException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
)

# Versions past their retention, and log or data files that VACUUM or log cleanup has removed.
_GONE = (
    "DELTA_FILE_NOT_FOUND",
    "DELTA_LOG_FILE_NOT_FOUND",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION",
    "DELTA_VERSION_NOT_FOUND",
    "DELTA_VERSIONS_NOT_CONTIGUOUS",
    "FAILED_READ_FILE.FILE_NOT_EXIST",
    "PATH_NOT_FOUND",
    "VersionNotFoundException",
)


def overwrite(frame: DataFrame, state: State, tag: CommitTag) -> None:
    """Make the frame's rows the state; creates the table with its properties where it does not exist."""
    writer = _tagged(frame, tag).mode("overwrite").option("overwriteSchema", "true")
    if state.version is None:
        for key, value in state.target.properties:
            writer = writer.option(key, value)
    with typed_failures(state.location):
        writer.save(state.location)


def append(frame: DataFrame, state: State, tag: CommitTag) -> None:
    """Add the frame's rows to the state."""
    with typed_failures(state.location):
        _tagged(frame, tag).mode("append").save(state.location)


def execute(spark: SparkSession, statement: exp.Expr, state: State, tag: CommitTag) -> None:
    """Run a MERGE, UPDATE or DELETE on the state table. Only settings of the session can give it the tag."""
    # A compaction behind the statement's commit would carry the same tag.
    settings = {_TXN_APP_ID: tag.app_id, _TXN_VERSION: str(tag.txn_version), _AUTO_COMPACT: "false"}
    if tag.user_metadata:
        settings[_USER_METADATA] = tag.user_metadata
    with typed_failures(state.location):
        run_with(spark, spark_sql(statement), settings)


def mark(spark: SparkSession, state: State, tag: CommitTag, column: str) -> None:
    """Record the batch in a commit that changes no row; ``column`` is any of the state's.

    An UPDATE of no row commits its tag. A DELETE of no row makes no commit; an empty append or MERGE is slower, and the
    append leaves an empty file.
    """
    unchanged = exp.EQ(this=col(column), expression=col(column))
    where = exp.Where(this=exp.false())
    execute(spark, exp.Update(this=delta_path(state.location), expressions=[unchanged], where=where), state, tag)


@contextmanager
def typed_failures(location: str) -> Iterator[None]:
    """Failures as ``DriftError``, ``HistoryGone``, ``ConcurrentCommit`` or ``QueryFails`` where they are one."""
    try:
        yield
    except SPARK_FAILURES as error:
        text = str(error)
        # After Spark's error class: a statement quoted in another failure may hold the same words.
        _, drifted, what = text.partition(f"] {DRIFT}: ")
        if drifted:
            what = what.splitlines()[0].partition(" SQLSTATE")[0]
            raise DriftError(
                f"The state at {location} does not fit its query: {what}. Nothing was written; "
                "`ivm validate` shows the difference, `ivm refresh` builds the view anew."
            ) from error
        names = tuple(names_of_failure(text))  # in order: the text may also quote a statement or a row with such a word
        if any(name.startswith(_GONE) for name in names):
            raise HistoryGone(
                f"A version or file that the batch reads is gone ({text.splitlines()[0][:300]}). Nothing was written; "
                "`ivm refresh` builds the view anew from the newest versions."
            ) from error
        if any(name.startswith(_CONFLICTS) for name in names):
            raise ConcurrentCommit(
                f"Another writer changed {location} while this batch was computed. Nothing was written; run it again."
            ) from error
        rows = failure_of_rows(text)
        if rows is not None:
            raise QueryFails(
                f"The query has no result for the rows that its tables hold now: {rows} Nothing was written; mend the "
                "rows or the query, and the next run goes on."
            ) from error
        raise


def _tagged(frame: DataFrame, tag: CommitTag) -> DataFrameWriter:
    writer = frame.write.format("delta").option("txnAppId", tag.app_id).option("txnVersion", tag.txn_version)
    return writer.option("userMetadata", tag.user_metadata) if tag.user_metadata else writer
