"""Open Spark so that a command prints its answer or one paragraph, and what Spark has to say goes to a file."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ivm_core.settings import Settings


def open_quietly(settings: Settings) -> SparkSession:
    """A session for these settings; the JVM's own messages go to ``spark.log`` beside the manifest.

    With IVM_DEBUG=1 they stay on the terminal.
    """
    from ivm_core.engine.session import open_session

    if os.environ.get("IVM_DEBUG") == "1":
        return open_session(settings)
    with _stderr_in(settings.manifest.parent / "spark.log"):
        session = open_session(settings)
    from pyspark.logger import PySparkLogger

    # PySpark prints each exception as JSON on its way up; the command prints what matters of it.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)
    return session


@contextmanager
def _stderr_in(file: Path) -> Iterator[None]:
    """Processes that are started in the body write their stderr to the file; this process gets its own back."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        target = os.open(os.devnull, os.O_WRONLY)
    sys.stderr.flush()
    before = os.dup(2)
    os.dup2(target, 2)
    os.close(target)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(before, 2)
        os.close(before)
