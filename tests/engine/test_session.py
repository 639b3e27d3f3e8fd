"""What a session is opened with, and what is said where it cannot be."""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ivm_core.engine import session
from ivm_core.engine.java_options import class_archive
from ivm_core.errors import EnvironmentProblem
from ivm_core.settings import Settings


def fake_java(folder: Path, answer: str, code: int = 0) -> Path:
    """A JAVA_HOME whose ``java`` says just this."""
    binary = folder / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(f"#!/bin/sh\necho '{answer}' >&2\nexit {code}\n")
    binary.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
    ],
)
def test_java_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, version: int) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, answer)))
    assert session.java_version() == version


def test_an_old_java_is_refused_with_the_command_that_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, 'openjdk version "11.0.2"')))
    with pytest.raises(EnvironmentProblem, match=r"Java 11 is too old.*apt-get install.*dnf install.*brew install"):
        session.open_session(Settings())


def test_a_missing_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(EnvironmentProblem, match="JAVA_HOME points at"):
        session.java_version()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match="not found"):
        session.java_version()


def test_a_java_that_does_not_run_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path, "broken", 1)))
    with pytest.raises(EnvironmentProblem, match="does not run"):
        session.java_version()


def test_jars_are_taken_from_the_environment_before_a_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_JARS", str(tmp_path))
    assert session.jars() == ()
    assert "spark.jars.packages" in session.delta_conf({}, local=False)
    jar = tmp_path / "delta-spark_4.2_2.13-4.4.0.jar"
    jar.touch()
    assert session.delta_conf({}, local=False) == {"spark.jars": str(jar)}
    own = {"spark.driver.extraClassPath": "/own.jar", "spark.jars": "/other.jar"}
    local = session.delta_conf(own, local=True)
    assert local["spark.driver.extraClassPath"] == f"{jar}:/own.jar"
    assert local["spark.jars"] == "/other.jar"


def test_the_users_configuration_wins(tmp_path: Path) -> None:
    settings = Settings.load(
        warehouse=str(tmp_path),
        spark={"master": "local[3]", "driver_memory": "3g", "conf": {"spark.databricks.delta.snapshotPartitions": "9"}},
    )
    conf = session.session_conf(settings)
    assert conf["spark.databricks.delta.snapshotPartitions"] == "9"
    assert conf["spark.sql.shuffle.partitions"] == "3"
    assert conf["spark.driver.memory"] == "3g"


def test_a_cluster_keeps_its_own_shuffle_partitions(tmp_path: Path) -> None:
    settings = Settings.load(warehouse=str(tmp_path), spark={"master": "spark://somewhere:7077"})
    conf = session.session_conf(settings)
    assert "spark.sql.shuffle.partitions" not in conf
    assert "spark.databricks.delta.snapshotPartitions" not in conf


@pytest.mark.parametrize(("master", "page"), [("local[2]", "1m"), ("spark://somewhere:7077", "4m")])
def test_a_broadcast_of_few_rows_is_small(tmp_path: Path, master: str, page: str) -> None:
    settings = Settings.load(warehouse=str(tmp_path), spark={"master": master})
    assert session.session_conf(settings)["spark.buffer.pageSize"] == page


def test_a_token_of_a_connect_url_is_not_shown() -> None:
    assert session._without_token("sc://host:15002/;token=secret") == "sc://host:15002"


class OpenedByOthers:
    """A session as far as it is asked for its settings."""

    def __init__(self, **settings: str) -> None:
        self.conf = self
        self.settings = {"spark.sql.extensions": session.DELTA_CONF["spark.sql.extensions"], **settings}

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.settings.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.settings[key] = value


@pytest.mark.parametrize(
    ("setting", "right", "wrong"),
    [
        ("spark.sql.files.ignoreMissingFiles", "false", "True"),
        ("spark.sql.files.ignoreCorruptFiles", "false", "True"),
        ("spark.sql.parser.escapedStringLiterals", "false", "True"),
        ("spark.sql.ansi.doubleQuotedIdentifiers", "false", "true"),
        ("spark.sql.ansi.relationPrecedence", "false", "true"),
        ("spark.sql.legacy.setopsPrecedence.enabled", "false", "true"),
        ("spark.sql.parquet.outputTimestampType", "INT96", "TIMESTAMP_MILLIS"),
    ],
)
def test_a_session_in_which_views_would_be_wrong_is_refused(setting: str, right: str, wrong: str) -> None:
    session.prepare_session(OpenedByOthers(**{setting: right}), Settings())  # type: ignore[arg-type]
    with pytest.raises(EnvironmentProblem, match=setting):
        session.prepare_session(OpenedByOthers(**{setting: wrong}), Settings())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "usual", "other"),
    [
        ("spark.sql.parquet.datetimeRebaseModeInRead", ("CORRECTED", "EXCEPTION"), "legacy"),
        ("spark.sql.parquet.int96RebaseModeInRead", ("CORRECTED", "EXCEPTION"), "LEGACY"),
        ("spark.sql.legacy.parquet.datetimeRebaseModeInRead", ("CORRECTED",), "LEGACY"),
        ("spark.sql.legacy.parquet.int96RebaseModeInRead", ("CORRECTED",), "LEGACY"),
        ("spark.sql.parquet.int96TimestampConversion", ("false",), "true"),
    ],
)
def test_a_session_that_finds_other_days_in_files_of_others_is_noticed(
    monkeypatch: pytest.MonkeyPatch, setting: str, usual: tuple[str, ...], other: str
) -> None:
    noticed = threading.Event()
    monkeypatch.setattr(session, "UNMARKED_ARE_OTHER", noticed)
    for value in usual:
        session.prepare_session(OpenedByOthers(**{setting: value}), Settings())  # type: ignore[arg-type]
    assert not noticed.is_set()
    session.prepare_session(OpenedByOthers(**{setting: other}), Settings())  # type: ignore[arg-type]
    assert noticed.is_set()


@pytest.mark.parametrize("variable", ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"])
def test_what_is_chosen_outside_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))  # without archived classes
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)
    options = "spark.driver.extraJavaOptions"
    room = "-XX:ReservedCodeCacheSize=512m"
    assert session.session_conf(Settings())[options] == f"-XX:+UseParallelGC {room}"
    own = Settings.model_validate({"spark": {"conf": {options: "-XX:+UseG1GC -XX:ReservedCodeCacheSize=256m"}}})
    assert session.session_conf(own)[options] == "-XX:+UseG1GC -XX:ReservedCodeCacheSize=256m"
    added = Settings.model_validate({"spark": {"conf": {options: "-Dx=y"}}})
    assert session.session_conf(added)[options] == f"-XX:+UseParallelGC {room} -Dx=y"
    assert options not in session.session_conf(Settings.model_validate({"spark": {"master": "spark://host:7077"}}))
    monkeypatch.setenv(variable, "-Xss4m -XX:+UseZGC -XX:ReservedCodeCacheSize=256m")
    assert options not in session.session_conf(Settings())


def test_archived_classes_are_used_where_there_are_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / "my environment"))
    options = "spark.driver.extraJavaOptions"
    assert "SharedArchiveFile" not in session.session_conf(Settings())[options]
    archive = class_archive()
    archive.parent.mkdir(parents=True)
    archive.touch()
    assert f'"-XX:SharedArchiveFile={archive}"' in session.session_conf(Settings())[options]


def test_a_java_that_cannot_use_the_archive_says_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    archive = class_archive()
    archive.parent.mkdir(parents=True)
    archive.write_bytes(b"from another Java")
    options = shlex.split(session.session_conf(Settings())["spark.driver.extraJavaOptions"])
    done = subprocess.run(["java", *options, "-version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "") and "archive" not in done.stderr


@pytest.mark.spark
def test_python_functions_run_in_this_environment(spark: SparkSession) -> None:
    spark.udf.register("which_python", lambda: sys.executable)
    assert [tuple(row) for row in spark.sql("SELECT which_python()").collect()] == [(sys.executable,)]
