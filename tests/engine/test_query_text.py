"""A query's text reaches Spark only after Spark itself has said that it is a query."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from ivm_core.engine.session import prepare_session, session_conf
from ivm_core.engine.tables import analyse
from ivm_core.errors import DefinitionError
from ivm_core.plan.statement import read_select
from ivm_core.settings import Settings


class Session:
    """Stands for a Spark session that takes nothing for a query but what begins with SELECT."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def sql(self, text: str) -> Any:
        self.asked.append(text)
        if text.startswith("DESCRIBE QUERY ") and not text.startswith("DESCRIBE QUERY SELECT"):
            raise AnalysisException("[PARSE_SYNTAX_ERROR] Syntax error at or near 'INTO'. SQLSTATE: 42601 (line 1)")
        return SimpleNamespace(schema=[])


def test_what_is_no_query_to_spark_is_never_run() -> None:
    session: Any = Session()
    with pytest.raises(DefinitionError, match=r"does not accept the query: .* near 'INTO'\."):
        analyse(session, "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a")
    assert session.asked == ["DESCRIBE QUERY WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a"]


@pytest.mark.spark
def test_spark_itself_runs_no_statement_that_only_begins_as_a_query(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {table} (id INT) USING DELTA").collect()
    spark.sql(f"INSERT INTO {table} VALUES (1)").collect()
    for rest in (f"INSERT INTO {table} SELECT id FROM a", f"DELETE FROM {table}", f"UPDATE {table} SET id = 2"):
        with pytest.raises(DefinitionError, match="does not accept the query"):
            analyse(spark, f"WITH a AS (SELECT 7 AS id) {rest}")
    with pytest.raises(DefinitionError, match="does not accept the query"):
        analyse(spark, f"SELECT 1; DELETE FROM {table}")
    assert analyse(spark, f"SELECT id FROM {table};") == (("id", "int"),)
    assert [tuple(row) for row in spark.sql(f"SELECT * FROM {table}").collect()] == [(1,)]


def test_a_query_is_run_as_it_is_written() -> None:
    session: Any = Session()
    analyse(session, "SELECT ifnull(a, b) FROM t -- as written")
    assert session.asked[-1] == "SELECT ifnull(a, b) FROM t -- as written"


@pytest.mark.parametrize("text", ["SHOW TABLES IN shop", "EXPLAIN SELECT 1", "VALUES (1); SELECT 1", "DESCRIBE t", ""])
def test_what_is_refused_is_told_of_once(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(DefinitionError, match="write one SELECT statement"):
        read_select(text)
    assert not caplog.records


def test_no_session_puts_settings_or_the_environment_into_texts() -> None:
    given: dict[str, str] = {"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"}
    conf = SimpleNamespace(set=given.__setitem__, get=given.get)
    session: Any = SimpleNamespace(conf=conf)
    prepare_session(session, Settings())
    assert given["spark.sql.variable.substitute"] == "false"
    assert session_conf(Settings())["spark.sql.variable.substitute"] == "false"
