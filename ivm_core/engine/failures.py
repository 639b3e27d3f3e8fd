"""The exceptions that Spark's two clients raise where a statement fails, and what they say of rows."""

from __future__ import annotations

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

# The classic client leaves failures of its writers (TASK_WRITE_FAILED and others) as the gateway's own exception.
SPARK_FAILURES: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError)

# A session that has died, or whose process has, cannot be tidied, and its failure is the one to tell of.
WHEN_TIDYING: tuple[type[Exception], ...] = (PySparkException, Py4JError, OSError)

# SQLSTATEs, most of them classes, that are about rows: too many of them for a subquery, a value out of range,
# raise_error(), a recursion without end.
_ABOUT_ROWS = ("21", "22", "P0", "42836")


def failure_of_rows(text: str) -> str | None:
    """Spark's sentence on the rows for which a query fails, from the text of a failure; None where it is not about rows."""
    for line in text.splitlines():
        sentence, found, state = line.rpartition("SQLSTATE: ")
        if found and state.startswith(_ABOUT_ROWS):
            return (sentence.partition("] ")[2] or sentence).strip()
    return None
