"""A Spark session with Delta Lake for the tests that need one: classic, or Connect with ``IVM_TEST_SPARK=connect``."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# Each query is new and its tables have a dozen rows: what would be compiled for it is not worth that. Spark's own code is, where
# it runs most: Java's optimising compiler took a third of a process's time, and with four times the usual thresholds it takes a
# sixth and 32 tests 8 % less; without it later tests are slower. Delta Lake keeps what it knows of a table, 2 MB each, for an hour: a
# process meets hundreds, and would collect garbage in the end and nothing else.
_TIER_4 = {
    "InvocationThreshold": 20_000,
    "MinInvocationThreshold": 2_400,
    "CompileThreshold": 60_000,
    "BackEdgeThreshold": 160_000,
}
TEST_CONF = {
    "spark.driver.extraJavaOptions": "-XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -Ddelta.log.cacheSize=50 "
    + " ".join(f"-XX:Tier4{name}={value}" for name, value in _TIER_4.items()),
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


# The files that take minutes, longest first: begun last, one of them would keep one process busy and the other waiting.
LONGEST = (
    "maintain/test_views.py", "airflow/test_runs.py", "maintain/test_crash.py", "maintain/test_identities.py",
    "maintain/test_rewind.py", "maintain/test_large_tables.py", "support/test_on_spark.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.fixture(scope="session")
def spark_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a small session: two cores, little memory, a warehouse of its own."""
    root = tmp_path_factory.mktemp("deployment")
    return Settings.load(
        catalog=f"sqlite:///{root}/catalog.db",
        warehouse=str(root / "warehouse"),
        spark={"master": "local[2]", "driver_memory": "1500m", "shuffle_partitions": 2, "conf": TEST_CONF},
    )


@pytest.fixture(scope="session")
def spark(spark_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for all tests. ``IVM_TEST_SPARK=connect`` runs the same tests as a client of a server of their own."""
    from ivm_core.engine.connect_server import start_connect_server
    from ivm_core.engine.session import open_session

    with ExitStack() as stack:
        settings = spark_settings
        if os.environ.get("IVM_TEST_SPARK") == "connect":
            url = stack.enter_context(
                start_connect_server(
                    warehouse=settings.warehouse,
                    master="local[2]",
                    driver_memory="1500m",
                    conf={"spark.sql.shuffle.partitions": "2", **TEST_CONF},
                    log=tmp_path_factory.mktemp("connect") / "server.log",
                )
            )
            settings = Settings.load(
                catalog=settings.catalog, warehouse=settings.warehouse, spark={"master": url, "shuffle_partitions": 2}
            )
        session = open_session(settings)
        stack.callback(session.stop)
        yield session


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """An empty folder for a test's tables; its name has a space, like some people's folders."""
    folder = tmp_path / "ware house"
    folder.mkdir()
    return folder


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    """A database that no other test uses, dropped with its tables afterwards."""
    name = f"test_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}").collect()
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE").collect()
