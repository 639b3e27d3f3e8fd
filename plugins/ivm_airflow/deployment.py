"""Where a task finds its deployment: settings, reports folder, and an engine that opens Spark only when it must."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ivm_airflow.failures import Permanent, translated
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

        wrong: Permanent | None = None
        try:  # how many views go at once, and the time zone, are asked before there is a session
            settings = (placed or with_connection)(settings)
        except Permanent as error:
            wrong = error  # fails what needs Spark, and leaves the report its way

        def connect() -> SparkSession:
            if wrong is not None:
                raise wrong
            sessions.append(open_session(settings))
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


def documented() -> frozenset[str]:
    """The DAGs of the groups whose findings the Data Docs hold; a group that is gone left its pages there."""
    folder = _documented_folder()
    return frozenset(file.name for file in folder.iterdir()) if folder.is_dir() else frozenset()


def note_documented(dag: str) -> None:
    """Remember that a DAG's group is about to have findings in the Data Docs."""
    folder = _documented_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / dag).touch()


def _documented_folder() -> Path:
    return reports_folder() / "quality" / "groups"
