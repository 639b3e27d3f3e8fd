"""Rows are shown whatever bytes their texts hold, by either kind of session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ivm_core.engine.shown_rows import shown_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
ODD = (
    "SELECT CAST(X'61FF' AS STRING) AS `a b`, array(CAST(X'FF' AS STRING)) AS listed, 1 AS k, CAST(NULL AS STRING) AS n"
)


class Client:
    """A frame that fails to read its own texts, as a client of Spark Connect does."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    def collect(self) -> Any:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")


def test_bytes_that_are_no_text_are_shown_as_such(spark: SparkSession) -> None:
    (row,) = shown_rows(spark.sql(ODD))
    assert (row["a b"], row["k"], row["n"]) == ("a\ufffd", 1, None)
    assert "\ufffd" in str(row["listed"])


def test_what_a_client_fails_to_read_is_shown(spark: SparkSession) -> None:
    client: Any = Client(spark.sql(ODD))
    (row,) = shown_rows(client)
    assert tuple(row) == ("a\ufffd", "[\ufffd]", 1, None)
