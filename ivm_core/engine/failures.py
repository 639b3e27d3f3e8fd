"""The exceptions that Spark's two clients raise where a statement fails, and what they say of rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

# The classic client leaves failures of its writers (TASK_WRITE_FAILED and others) as the gateway's own exception.
SPARK_FAILURES: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError)

# A session that has died, or whose process has, cannot be tidied, and its failure is the one to tell of.
WHEN_TIDYING: tuple[type[Exception], ...] = (PySparkException, Py4JError, OSError)

# SQLSTATEs, most of them classes, that are about rows: too many of them for a subquery, a value out of range,
# raise_error(), a recursion without end.
_ABOUT_ROWS = ("21", "22", "P0", "42836")

# ``[DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT]``, ``io.delta.exceptions.ConcurrentAppendException``
_NAME = re.compile(
    r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)*)\]|\b(?:io\.delta|org\.apache\.spark)\.(?:\w+\.)*(\w+Exception)\b"
)
_STATE = re.compile(r"SQLSTATE: (\w+)")


def names_of_failure(text: str) -> Iterator[str]:
    """The error conditions and classes of Spark's and Delta's exceptions that a failure's text tells, outermost first.

    They end with the first one that is about rows: its sentence quotes these, and they may hold any name.

    >>> list(names_of_failure("[CAST_INVALID_INPUT] The value '[PATH_NOT_FOUND]' of ... SQLSTATE: 22018"))
    ['CAST_INVALID_INPUT']
    """
    for found in _NAME.finditer(text):
        yield found[1] or found[2]
        state = _STATE.search(text, found.end())
        # Of Delta's own conditions some have the state of a value out of range: a version that is not there.
        if found[1] and not found[1].startswith("DELTA_") and state and state[1].startswith(_ABOUT_ROWS):
            return


def failure_of_rows(text: str) -> str | None:
    """Spark's sentence on the rows for which a query fails, from the text of a failure; None where it is not about rows."""
    for line in text.splitlines():
        sentence, found, state = line.rpartition("SQLSTATE: ")
        if found and state.startswith(_ABOUT_ROWS):
            return (sentence.partition("] ")[2] or sentence).strip()
    return None
