"""The exceptions that Spark's two clients raise where a statement fails."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

# The classic client leaves failures of its writers (TASK_WRITE_FAILED and others) as the gateway's own exception.
SPARK_FAILURES: tuple[type[Exception], ...] = (PySparkException, Py4JJavaError)
