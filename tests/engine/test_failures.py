"""What a failure of Spark is, by its text: gone history, another writer, or rows without a result."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from ivm_core.engine.commit import typed_failures
from ivm_core.errors import ConcurrentCommit, HistoryGone, QueryFails

CAST = '[CAST_INVALID_INPUT] The value \'{}\' of the type "STRING" cannot be cast to "INT". SQLSTATE: 22018'


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CAST.format("x"), QueryFails),
        (CAST.format("ConcurrentAppendException"), QueryFails),
        (CAST.format("[DELTA_CONCURRENT_APPEND] a file was added"), QueryFails),
        (CAST.format("io.delta.exceptions.ConcurrentAppendException: no"), QueryFails),
        (CAST.format("org.apache.spark.sql.AnalysisException: [PATH_NOT_FOUND] /x"), QueryFails),
        (CAST.format("first line\n[DELTA_VERSION_NOT_FOUND] second"), QueryFails),
        ("[USER_RAISED_EXCEPTION] PATH_NOT_FOUND SQLSTATE: P0001", QueryFails),
        (f"[TASK_WRITE_FAILED] Task failed while writing. SQLSTATE: 58030\n{CAST.format('PATH_NOT_FOUND')}", QueryFails),
        ("[PATH_NOT_FOUND] Path does not exist: /t. SQLSTATE: 42K03", HistoryGone),
        ("[DELTA_VERSION_NOT_FOUND] Cannot time travel to version 4. SQLSTATE: 22003", HistoryGone),
        ("[TASK_WRITE_FAILED] Task failed. SQLSTATE: 58030\nCaused by: [FAILED_READ_FILE.FILE_NOT_EXIST] gone", HistoryGone),
        ("calling o1.save.\n: org.apache.spark.sql.delta.VersionNotFoundException: no version 4", HistoryGone),
        ("[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT] Transaction conflict. SQLSTATE: 2D521", ConcurrentCommit),
        ("(io.delta.exceptions.ConcurrentWriteException) a transaction was committed", ConcurrentCommit),
        ("(org.apache.spark.sql.delta.MetadataChangedException) the metadata was changed", ConcurrentCommit),
        ("[UNRESOLVED_COLUMN] no column PATH_NOT_FOUND, ConcurrentWriteException. SQLSTATE: 42703", PySparkException),
    ],
)  # fmt: skip
def test_the_kind_of_a_failure(text, kind):
    with pytest.raises(kind), typed_failures("the state"):
        raise PySparkException(text)
