"""A statement under settings that only it sees: what is set in a session holds for whoever else writes in it meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ivm_core.engine.queries import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_with(spark: SparkSession, statement: str, settings: Mapping[str, str]) -> None:
    """Run a statement in a copy of the session, which has its temporary views and functions, and these settings too."""
    session: Any = spark
    if is_connect(spark):
        copy = session.cloneSession()
        try:
            for key, value in settings.items():
                copy.conf.set(key, value)
            copy.sql(statement).collect()
        finally:
            copy.client.release_session()
            copy.client.close()
        return
    # Java's own: making Python's of it would make it the session that RDD.toDF takes.
    copy = session._jsparkSession.cloneSession()
    for key, value in settings.items():
        copy.conf().set(key, value)
    copy.sql(statement)
