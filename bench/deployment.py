"""A deployment for one benchmark: an empty folder with a catalogue and a warehouse, and one Spark session that stays warm."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from bench.lock import alone
from bench.meter import Meter
from ivm_core import Engine
from ivm_core.engine.log import TableLog
from ivm_core.engine.session import check_java
from ivm_core.engine.tables import describe_table
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
DRIVER_MEMORY = "3g"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a benchmark works: ``base`` holds its results and deployments, ``data`` the generated rows, kept for the next.

    ``spark``: a session of its caller, if any.
    """

    base: Path = ROOT / ".ivm" / "bench"
    master: str = "local[*]"
    driver_memory: str = DRIVER_MEMORY
    spark: SparkSession | None = None
    data: Path = ROOT / ".ivm" / "data"


@dataclass(frozen=True, slots=True)
class Deployment:
    """An open deployment; its folder is empty at the start."""

    folder: Path
    spark: SparkSession
    engine: Engine
    meter: Meter


@contextmanager
def warm_session(place: Place, name: str) -> Iterator[SparkSession]:
    """The one session of a benchmark: the caller's, or one that is stopped at the end.

    Raises EnvironmentProblem where Java is missing, or where another bench of that name runs.
    """
    with ExitStack() as stack:
        stack.enter_context(alone(place.base / name, "bench"))
        if place.spark is not None:
            yield place.spark
            return
        from ivm_core.cli.quiet import open_quietly

        check_java()
        spark = open_quietly(_settings(place, place.base / name))
        stack.callback(spark.stop)
        yield spark


@contextmanager
def deployment(
    place: Place, name: str, spark: SparkSession, schemas: tuple[str, ...], limits: Mapping[str, int] | None = None
) -> Iterator[Deployment]:
    """An empty deployment in ``base/name``; ``schemas`` are its own and are dropped before and after, with their tables.

    ``limits``: settings of that section that are not the defaults.
    """
    folder = place.base / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drop_schemas(spark, *schemas)
    try:
        with Engine.open(spark=spark, settings=_settings(place, folder, limits)) as engine:
            yield Deployment(folder, spark, engine, Meter(spark))
    finally:
        drop_schemas(spark, *schemas)
        shutil.rmtree(folder / "warehouse", ignore_errors=True)


def _settings(place: Place, folder: Path, limits: Mapping[str, int] | None = None) -> Settings:
    return Settings.load(
        catalog=f"sqlite:///{folder}/catalog.db",
        warehouse=str(folder / "warehouse"),
        manifest=str(folder / "manifest.json"),
        spark={"master": place.master, "driver_memory": place.driver_memory},
        limits=dict(limits or {}),
    )


def make_schemas(spark: SparkSession, *schemas: str) -> None:
    """Make schemas exist."""
    for schema in schemas:
        spark.sql(exp.Create(this=_schema(schema), kind="SCHEMA", exists=True).sql("spark")).collect()


def drop_schemas(spark: SparkSession, *schemas: str) -> None:
    """Drop schemas where they exist, with their tables."""
    for schema in schemas:
        spark.sql(exp.Drop(tables=[_schema(schema)], kind="SCHEMA", exists=True, cascade=True).sql("spark")).collect()


def log_of(spark: SparkSession, table: str) -> TableLog:
    """The log of a table, by its name."""
    return TableLog(describe_table(spark, table).location, spark)


def _schema(name: str) -> exp.Table:
    return exp.Table(db=exp.to_identifier(name, quoted=True))
