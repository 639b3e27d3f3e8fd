"""Open a Spark session that can read and write Delta tables: classic or Connect, set up for small batches."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ivm_core.engine.java_options import java_conf
from ivm_core.engine.log_files import UNMARKED_ARE_OTHER
from ivm_core.errors import EnvironmentProblem
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MINIMUM_JAVA = 17
DELTA_PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
# Fixed at the start of an application.
DELTA_CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
APPLICATION_CONF = DELTA_CONF | {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Every statement's plan is written out for the history server; of small batches that is a tenth of the driver's time.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.maxPlanStringLength": "2000",
    # A batch repeats the queries of the one before it: with 100 classes kept, the default, a group of a dozen views
    # compiled most of them anew each time. A view's batch has about 15, its refresh and its validation five to ten more.
    "spark.sql.codegen.cache.maxEntries": "4000",
    # The values of a list are looked up in a set, and not written into the class that a batch generates: the next one's differ.
    "spark.sql.optimizer.inSetConversionThreshold": "1",
    "spark.sql.optimizer.inSetSwitchThreshold": "0",
    # A LIMIT that is pushed below a union or a join counts by a variable whose name is new in each query: so is its class.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.LimitPushDown",
    # A broadcast with several keys, or a key of text, takes a page of this size however few rows it has: up to 64 MB by
    # default, and a batch of a view with many joins has dozens of them. 8,192 of them are the most that a task can have.
    "spark.buffer.pageSize": "4m",
    # At INFO a Connect server writes every plan to its log, and Delta a line for every snapshot.
    "spark.log.level": "WARN",
}
LOCAL_CONF = {
    # Delta replays a table's log with 50 partitions by default: on few cores that is most of a small batch's time.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.buffer.pageSize": "1m",
    # Spark asks for the sizes of more than 32 files in a job of its own, a task for each: 0.3 to 0.6 s of a scan of 150 files
    # that lie here. As many as a scan of ours names (engine/plain_files.py).
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "256",
}
SESSION_CONF = {
    # A commit whose answer was lost is recognised as one's own.
    "spark.databricks.delta.commit.idempotencyCheck.enabled": "true",
    # Delta passes the rows of its change feed through Java's classes of days and instants. Those of old skip the days from
    # 1582-10-05 to 14, and 2011-12-30 on Samoa's clock: a deletion of such a row would look for another one.
    "spark.sql.datetime.java8API.enabled": "true",
    # Delta refuses a version that is older than the retention, though its files stay for that long after the next commit: of
    # a table that was quiet for a week, the version before its newest commit. ``TableLog.is_readable`` judges by the files.
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
    # Otherwise ${env:NAME} and ${spark.some.setting} in a statement, or in a text that one holds, become what the driver's
    # environment and the session have by that name, secrets among them, and a view would show it.
    "spark.sql.variable.substitute": "false",
}
# Settings of others that would make a view wrong without a word: the value that does, and how.
_HARMFUL = {
    "spark.sql.files.ignoreMissingFiles": ("true", "the rows of files that are gone would be left out"),
    "spark.sql.files.ignoreCorruptFiles": ("true", "the rows of files that cannot be read would be left out"),
    "spark.sql.parser.escapedStringLiterals": (
        "true",
        "rows would be looked up by other texts where these hold a quote or a backslash",
    ),
    "spark.sql.ansi.doubleQuotedIdentifiers": (
        "true",
        "what a query has in double quotes would be a column to Spark and a text here",
    ),
    "spark.sql.ansi.relationPrecedence": ("true", "a JOIN after a comma would bind to other tables here than to Spark"),
    "spark.sql.legacy.setopsPrecedence.enabled": (
        "true",
        "UNION, EXCEPT and INTERSECT would go together here otherwise than to Spark",
    ),
    "spark.sql.parquet.outputTimestampType": (
        "timestamp_millis",
        "files that Spark writes would hold instants without their microseconds",
    ),
}
# By these, instants and days of files that Spark did not write, or of old, are others for it than for this process. Each
# with its usual value and that one.
_OTHER_DAYS = {
    "spark.sql.parquet.datetimeRebaseModeInRead": ("CORRECTED", "LEGACY"),
    "spark.sql.parquet.int96RebaseModeInRead": ("CORRECTED", "LEGACY"),
    "spark.sql.legacy.parquet.datetimeRebaseModeInRead": ("CORRECTED", "LEGACY"),  # Spark 3.0's names count as well
    "spark.sql.legacy.parquet.int96RebaseModeInRead": ("CORRECTED", "LEGACY"),
    "spark.sql.parquet.int96TimestampConversion": ("false", "TRUE"),  # of files by Impala
}
_LOCAL_SHUFFLE_PARTITIONS_PER_CORE = 1
_JAVA_ADVICE = (
    "Install a Java runtime: `sudo apt-get install openjdk-17-jre-headless` (Debian, Ubuntu), "
    "`sudo dnf install java-21-openjdk-headless` (Fedora) or `brew install openjdk@17` (macOS)"
)


def open_session(settings: Settings) -> SparkSession:
    """A session for ``settings.spark.master``: ``sc://…`` through Spark Connect, anything else in this process's JVM.

    Raises ``EnvironmentProblem`` where Java or the server is missing.
    """
    if settings.spark.master.startswith("sc://"):
        return _connect(settings)
    check_java()
    from pyspark.sql import SparkSession

    if settings.spark.master.startswith("local"):
        # Python functions would otherwise run in whatever python3 the path finds, without this environment's packages.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(settings.spark.master).appName("ivm")
    for key, value in session_conf(settings).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    _check_readings(session)
    _quieten()
    session.sparkContext.setLogLevel("ERROR")
    return session


def prepare_session(spark: SparkSession, settings: Settings) -> None:
    """Check that a session opened by somebody else can do Delta, and set what a batch relies on."""
    _quieten()
    _check_readings(spark)
    for key, value in SESSION_CONF.items():
        spark.conf.set(key, value)
    extensions = spark.conf.get("spark.sql.extensions", "") or ""
    if "DeltaSparkSessionExtension" not in extensions:
        raise EnvironmentProblem(
            "The Spark session has no Delta Lake: start it with spark.sql.extensions="
            f"{DELTA_CONF['spark.sql.extensions']}, spark.sql.catalog.spark_catalog="
            f"{DELTA_CONF['spark.sql.catalog.spark_catalog']} and the package {DELTA_PACKAGE}."
        )
    if settings.spark.shuffle_partitions is not None:
        spark.conf.set("spark.sql.shuffle.partitions", str(settings.spark.shuffle_partitions))


def _check_readings(spark: SparkSession) -> None:
    """Refuse settings by which the session reads other rows or texts than are there, and note whose days those of files are."""
    for key, (value, harm) in _HARMFUL.items():
        if str(spark.conf.get(key, None)).lower() == value:
            raise EnvironmentProblem(
                f"In the Spark session {key} is {value}: {harm}, and views would be wrong. Nothing was changed. Take the "
                "setting away, or give the views a session without it."
            )
    if any(str(spark.conf.get(key, usual)).upper() == other for key, (usual, other) in _OTHER_DAYS.items()):
        UNMARKED_ARE_OTHER.set()


def session_conf(settings: Settings) -> dict[str, str]:
    """The configuration of a classic session, the user's own winning."""
    local = settings.spark.master.startswith("local")
    conf = APPLICATION_CONF | SESSION_CONF | {"spark.driver.memory": settings.spark.driver_memory}
    if local:
        conf |= LOCAL_CONF
    partitions = settings.spark.shuffle_partitions or (_local_partitions(settings.spark.master) if local else None)
    if partitions is not None:
        conf["spark.sql.shuffle.partitions"] = str(partitions)
    if "://" not in settings.warehouse:
        # Otherwise Spark makes a folder wherever the process happens to run.
        conf["spark.sql.warehouse.dir"] = f"{settings.warehouse.rstrip('/')}/spark"
    return conf | delta_conf(settings.spark.conf, local=local)


def delta_conf(own: Mapping[str, str], *, local: bool) -> dict[str, str]:
    """The user's ``own`` configuration with where Spark takes Delta Lake from: the JARs beside the packages, or Ivy.

    A ``local`` driver finds the JARs on its class path, and its Java starts as small batches like it.
    """
    found = jars()
    source: dict[str, str] = {}
    if not found:
        source = {"spark.jars.packages": DELTA_PACKAGE}
    elif not local:
        source = {"spark.jars": ",".join(str(path) for path in found)}
    return {**source, **own, **(java_conf(found, own) if local else {})}


def jars() -> tuple[Path, ...]:
    """Delta Lake's JARs in ``IVM_JARS`` or ``<environment>/share/ivm/jars``; empty where they are not installed."""
    folder = Path(os.environ.get("IVM_JARS") or Path(sys.prefix) / "share" / "ivm" / "jars")
    return tuple(sorted(folder.glob("*.jar"))) if folder.is_dir() else ()


def check_java() -> None:
    """Raise ``EnvironmentProblem`` where Java is missing or too old."""
    version = java_version()
    if version < MINIMUM_JAVA:
        raise EnvironmentProblem(f"Java {version} is too old: Spark needs {MINIMUM_JAVA} or newer. {_JAVA_ADVICE}.")


def java_version() -> int:
    """The major version of the Java that Spark would start. Raises ``EnvironmentProblem`` where there is none."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if command is None or not Path(command).exists():
        where = f"JAVA_HOME points at {home}, which has no bin/java" if home else "Java was not found"
        raise EnvironmentProblem(f"{where}. {_JAVA_ADVICE}.")
    try:
        answer = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvironmentProblem(f"Java at {command} does not run ({type(error).__name__}). {_JAVA_ADVICE}.") from error
    # "1.8.0_392" is Java 8, "17.0.15" is Java 17.
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if found is None:
        raise EnvironmentProblem(f"Java at {command} does not tell its version. {_JAVA_ADVICE}.")
    return int(found.group(1))


def _quieten() -> None:
    """PySpark writes every exception to the log as it is raised, caught or not."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


def _local_partitions(master: str) -> int:
    found = re.fullmatch(r"local\[(\d+)\]", master)
    cores = int(found.group(1)) if found else (1 if master == "local" else os.cpu_count() or 1)
    return max(2, cores * _LOCAL_SHUFFLE_PARTITIONS_PER_CORE)


def _connect(settings: Settings) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    server = _without_token(settings.spark.master)
    try:
        session = ConnectSession.builder.remote(settings.spark.master).getOrCreate()
        prepare_session(session, settings)
    except PySparkException as error:
        raise EnvironmentProblem(
            f"No Spark Connect server answers at {server}: {str(error).splitlines()[0]}"
        ) from error
    for key, value in settings.spark.conf.items():
        try:
            session.conf.set(key, value)
        except PySparkException as error:
            raise EnvironmentProblem(
                f"The Spark Connect server at {server} does not let a client set {key}: set it where the server is started, "
                "and take it out of the settings' or the connection's Spark configuration."
            ) from error
    if settings.spark.conf.keys() & {*_HARMFUL, *_OTHER_DAYS}:
        _check_readings(session)
    return session


def _without_token(url: str) -> str:
    """Parameters of a Connect URL may hold a token."""
    return url.partition("/;")[0]
