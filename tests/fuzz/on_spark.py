"""Random views on Spark and Delta, by the whole path: real tables and commits, created views, committed batches.

The views of a block share tables, batches and a deployment; after each batch every view is compared with its query. A case is
a view and the next few batches that it goes through, so that a created view serves several.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from ivm_core import Engine
from ivm_core.engine.failures import SPARK_FAILURES
from ivm_core.engine.session import open_session
from ivm_core.errors import DefinitionError, IvmError
from ivm_core.settings import Settings
from tests.bags import difference
from tests.conftest import TEST_CONF
from tests.fuzz.case import Outcome
from tests.fuzz.search import Findings, draw
from tests.fuzz.tables import TABLES, random_rows
from tests.fuzz.views import few_to_spare
from tests.maintain.database import FEED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TRACES = 5  # of each view, one after the other
BATCHES = 2  # of a trace
BLOCK = 20
_FIRST_CTE = re.compile(r"^(WITH \w+(?:\([^()]*\))? )AS \(")
POLICY = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"


class Changes:
    """The tables as Delta tables with a change feed, and random statements that change them."""

    def __init__(self, spark: SparkSession, seed: int) -> None:
        self.spark, self.random = spark, Random(f"changes {seed}")
        spark.sql("CREATE SCHEMA IF NOT EXISTS f")
        for name, schema in TABLES.items():
            columns = ", ".join(f"{column} {kind}" for column, kind in schema.columns)
            spark.sql(f"CREATE OR REPLACE TABLE {name} ({columns}) USING DELTA {FEED}")
            self._write(name, "append", 6)
        self._show()

    def batch(self) -> list[str]:
        """Change some of the tables, each by one to three commits; returns what was done."""
        done = []
        for name in self.random.sample(list(TABLES), k=self.random.randint(1, len(TABLES))):
            done += [self._commit(name) for _ in range(self.random.randint(1, 3))]
        self._show()
        return done

    def expected(self, query: str) -> DataFrame:
        """The query's rows now, computed from rows in memory: Delta's own planning takes longer than the query."""
        return self.spark.sql(re.sub(r"\bf\.([a-z]+)\b", r"now_\1", query))

    def _show(self) -> None:
        for name in TABLES:
            rows = self.spark.createDataFrame(self.spark.table(name).toArrow())
            rows.createOrReplaceTempView(name.replace("f.", "now_"))

    def _commit(self, name: str) -> str:
        columns = [column for column, _ in TABLES[name].columns]
        column = self.random.choice(columns)
        some = f"pmod(hash({', '.join(columns)}, {self.random.randrange(100)}), 3) = 0"
        match self.random.randrange(10):
            case 0 | 1 | 2:
                return self._write(name, "append", self.random.randint(1, 4))
            case 3:
                return self._write(name, "overwrite", self.random.choice((0, 3, 6)))
            case 4 | 5:
                return self._run(f"DELETE FROM {name} WHERE {some}")
            case 6:
                return self._run(f"INSERT INTO {name} SELECT * FROM {name} WHERE {some}")
            case 7:
                return self._run(f"UPDATE {name} SET {column} = NULL WHERE {some}")
            case _:
                # The value that most rows of some other row's column have: rows fall together.
                return self._run(f"UPDATE {name} SET {column} = (SELECT mode({column}) FROM {name}) WHERE {some}")

    def _write(self, name: str, mode: str, rows: int) -> str:
        columns = ", ".join(f"{column} {kind}" for column, kind in TABLES[name].columns)
        made = random_rows(self.random, name, rows)
        self.spark.createDataFrame(made, columns).coalesce(1).write.format("delta").mode(mode).saveAsTable(name)
        return f"{mode} {name}: {list(made)}"

    def _run(self, statement: str) -> str:
        self.spark.sql(statement).collect()
        return statement


# A search runs for an hour: there an optimising compiler pays.
CONF = TEST_CONF | {"spark.driver.extraJavaOptions": "-XX:+UseSerialGC"}


@cache
def _own_session(folder: Path) -> SparkSession:
    settings = Settings.load(
        warehouse=str(folder / "warehouse"),
        spark={"master": "local[1]", "driver_memory": "2g", "shuffle_partitions": 1, "conf": CONF},
    )
    return open_session(settings)


def search_in_own_session(folder: Path, seeds: range) -> Findings:
    """The same in a session that the process keeps, below a folder that other processes may use too."""
    own, total = folder / f"{os.getpid()}", Findings()
    for found in search_on_spark(_own_session(own), own, seeds):
        total.add(found)
    return total


def search_on_spark(spark: SparkSession, folder: Path, seeds: range, traces: int = TRACES) -> Iterator[Findings]:
    """Draw one view for each seed and take it through its block's traces; yields what each block came to."""
    for first in range(seeds.start, seeds.stop, BLOCK):
        found = Findings()
        try:
            _search_block(spark, folder / f"{first}", range(first, min(first + BLOCK, seeds.stop)), traces, found)
        except Exception:  # whatever fails, what the other blocks come to is not lost
            found.wrong.append(f"block {first}\n{traceback.format_exc()}")
            found.outcomes[Outcome.WRONG] += 1
        yield found


def _search_block(spark: SparkSession, folder: Path, seeds: range, traces: int, found: Findings) -> None:
    folder.mkdir(parents=True)
    changes = Changes(spark, seeds.start)
    history = [f"tables of block {seeds.start}"]
    found.views += len(seeds)
    opened = Engine.open(spark=spark, catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "warehouse")
    with few_to_spare(), opened as engine:
        queries = {f"v.v{seed}": draw(seed)[0] for seed in seeds}
        for name in list(queries):
            refusal = _refusal(spark, engine, name, queries[name], found)
            if refusal:
                del queries[name]
        for _ in range(traces):
            for _ in range(BATCHES):
                history += changes.batch()
                reports = {report.view: report for report in engine.maintain(list(queries), raise_errors=False)}
                for name, query in list(queries.items()):
                    found.batches += 1
                    expected = changes.expected(query)
                    outcome, detail = _compared(spark, engine.read(name), expected, query, reports[name].error)
                    if outcome is Outcome.RIGHT:
                        continue
                    if outcome is Outcome.WRONG:
                        found.wrong.append("\n".join([name, query, *history, detail]))
                    found.outcomes[outcome] += 1
                    del queries[name]
            found.outcomes[Outcome.RIGHT] += len(queries)


def _marked(query: str) -> str:
    """The first CTE of every second query is kept as a view of its own."""
    return _FIRST_CTE.sub(r"\1AS MATERIALIZED (", query) if len(query) % 2 else query


def _refusal(spark: SparkSession, engine: Engine, name: str, query: str, found: Findings) -> bool:
    """Create the view; whether there is none. A failure that the query itself does not have is a finding."""
    try:
        engine.create(f"CREATE INCREMENTAL MATERIALIZED VIEW {name} {POLICY} AS {_marked(query)}")
        return False
    except DefinitionError as refused:
        outcome, detail = Outcome.REFUSED, str(refused)
        found.refusals[detail] += 1
    except (IvmError, *SPARK_FAILURES) as failed:
        outcome, detail = _failed(spark, query, str(failed))
    if outcome is Outcome.WRONG:
        found.wrong.append("\n".join([name, query, "not created", detail]))
    found.outcomes[outcome] += 1
    return True


def _compared(
    spark: SparkSession, found: DataFrame, expected: DataFrame, query: str, error: str
) -> tuple[Outcome, str]:
    if error:
        return _failed(spark, query, error)
    try:
        different = difference(found, expected, rounded=True)
    except SPARK_FAILURES as failed:
        return _failed(spark, query, str(failed))
    return (Outcome.WRONG, f"{different[:10]}") if different else (Outcome.RIGHT, "")


def _failed(spark: SparkSession, query: str, error: str) -> tuple[Outcome, str]:
    """A failure is right where the query itself fails on the same rows."""
    try:
        spark.sql(query).collect()
    except SPARK_FAILURES:  # errors of Spark's own code too
        return Outcome.FAILS, error
    return Outcome.WRONG, error
