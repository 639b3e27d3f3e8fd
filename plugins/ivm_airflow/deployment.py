"""Where a task finds its deployment: settings, reports folder, and an engine that opens Spark only when it must."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ivm_airflow.failures import translated
from ivm_airflow.manifest import manifest_path, settings_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ivm_core import Engine
    from ivm_core.settings import Settings

Placed = Callable[["Settings"], "Settings"]  # the settings with the Spark to use


@contextmanager
def opened_engine(placed: Placed | None = None) -> Iterator[Engine]:
    """The deployment's engine; its Spark session comes from Airflow's connection at its first use and ends here.

    ``placed`` says instead where Spark is.
    On Spark Connect that ends the task's session on the server, not the server. Errors leave as ``failures``.
    """
    from ivm_airflow.connection import with_connection
    from ivm_core import Engine
    from ivm_core.engine.session import open_session
    from ivm_core.settings import Settings

    sessions: list[SparkSession] = []
    with translated():
        settings = Settings.load(settings_path())
        if settings.log_level is not None:
            logging.getLogger("ivm_core").setLevel(settings.log_level)

        def connect() -> SparkSession:
            sessions.append(open_session((placed or with_connection)(settings)))
            return sessions[0]

        try:
            with Engine.open(spark=connect, settings=settings) as engine:
                yield engine
        finally:
            for session in sessions:
                session.stop()


def reports_folder() -> Path:
    """Reports and Data Docs lie beside the manifest."""
    return manifest_path().parent / "reports"
