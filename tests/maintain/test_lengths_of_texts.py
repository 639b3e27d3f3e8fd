"""Views over columns of CHAR and VARCHAR hold texts of any length: of other branches, and of columns that are longer since."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from ivm_core import Engine
from ivm_core.engine.log import TableLog
from ivm_core.engine.write_whole import _without_lengths
from tests.maintain.database import FEED, create_views, follow, run, set_limits
from tests.sampling import one_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    "rows": "SELECT id, name FROM {s}.t",
    "both": "SELECT id, name FROM {s}.t UNION ALL SELECT id, note FROM {s}.u",
    "groups": "SELECT name, count(*) AS n FROM (SELECT name FROM {s}.t UNION ALL SELECT note FROM {s}.u) GROUP BY name",
    "fields": "SELECT id, st FROM {s}.t",
}


class Frame:
    """As much of a DataFrame as is asked for."""

    def __init__(self, *fields: StructField) -> None:
        self.schema, self.columns = StructType(list(fields)), [field.name for field in fields]

    def selectExpr(self, *items: str) -> list[str]:  # noqa: N802
        return list(items)


def test_only_columns_with_a_length_are_written_otherwise() -> None:
    plain, limited = StructField("k", LongType()), StructField("a `b", StringType())
    limited.metadata = {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"}
    frame: Any = Frame(plain, StructField("t", StringType()))
    assert _without_lengths(frame) is frame
    frame = Frame(plain, limited)
    assert _without_lengths(frame) == ["`k`", "COALESCE(`a ``b`) AS `a ``b`"]


@pytest.mark.spark
@pytest.mark.parametrize("rows", one_in(2, [0, None], 1), ids=["by Spark", "by this process"])
def test_longer_texts_come(spark: SparkSession, schema: str, tmp_path: Path, rows: int | None) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.t (id INT, name VARCHAR(3), st STRUCT<v: VARCHAR(2)>) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.u (id INT, note STRING) USING DELTA {FEED}",
        f"INSERT INTO {schema}.t VALUES (1, 'abc', struct('x')), (2, NULL, NULL)",
        f"INSERT INTO {schema}.u VALUES (1, 'longer than that')",
    )
    queries = {name: query.format(s=schema) for name, query in QUERIES.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        if rows is not None:
            set_limits(engine, replace_rows=rows)
        create_views(engine, schema, queries)
        for view in engine.catalog.views():
            schema_of_state = TableLog(view.location)._open().schema().to_json()
            assert "char(" not in schema_of_state, view.name
        follow(
            engine,
            schema,
            queries,
            f"INSERT INTO {schema}.u VALUES (2, 'still longer than that')",
            f"ALTER TABLE {schema}.t CHANGE COLUMN name name VARCHAR(20)",
            f"INSERT INTO {schema}.t VALUES (3, 'abcdefghij', struct('y'))",
            f"DELETE FROM {schema}.t WHERE id = 1",
        )


PADDED = {
    "filtered": "SELECT id FROM {s}.p WHERE c = 'ab'",
    "listed": "SELECT id, c FROM {s}.p WHERE c IN ('ab', 'cde')",
    "cases": "SELECT sum(CASE WHEN c = 'ab' THEN 1 ELSE 0 END) AS n FROM {s}.p",
    "joined": "SELECT p.id, l.id AS other FROM {s}.p JOIN {s}.l ON p.c = l.c",
    "outer": "SELECT p.id, l.id AS other FROM {s}.p LEFT JOIN {s}.l ON p.c = l.c AND l.c <> 'x'",
    "grouped": "SELECT c, count(*) AS n FROM {s}.p GROUP BY c HAVING c <> 'ab'",
    "numbered": "SELECT id, c = 'ab' AS short, row_number() OVER (PARTITION BY c ORDER BY id) AS r FROM {s}.p",
    "exists": "SELECT id, c = 'ab' AS short FROM {s}.p WHERE EXISTS (SELECT 1 FROM {s}.l WHERE l.id = p.id)",
    "unmatched": "SELECT l.id, p.c = 'ab' AS short FROM {s}.l LEFT JOIN {s}.p ON p.id = l.id",
    # Compared where the state is read, whose column is a STRING.
    "shown": "SELECT c = 'ab' AS short, count(*) AS n FROM {s}.p GROUP BY c",
    "having": "SELECT c, count(*) AS n FROM {s}.p GROUP BY c HAVING c <> 'ab' OR count(*) > 1",
    "longer": "SELECT c = 'ab      ' AS eq, c < 'ab      ' AS lt, c <=> 'x      ' AS same, count(*) AS n FROM {s}.p GROUP BY c",
    "computed": "SELECT c = lower('AB') AS eq, c IN ('x', lower('AB')) AS listed, count(*) AS n FROM {s}.p GROUP BY c",
    "simple": "SELECT CASE c WHEN 'ab' THEN 1 WHEN 'x' THEN 2 END AS k, count(*) AS n FROM {s}.p GROUP BY c",
    "ranged": "SELECT c BETWEEN 'ab' AND 'x' AS b, nullif(c, 'ab') AS i, count(*) AS n FROM {s}.p GROUP BY c",
    "decoded": "SELECT decode(c, 'ab', 1, 'x', 2) AS d, count(*) AS n FROM {s}.p GROUP BY c",
    "renamed": "SELECT d = 'ab' AS eq, n FROM (SELECT c AS d, count(*) AS n FROM {s}.p GROUP BY c) WHERE d <> 'x' OR n > 1",
    "smallest": "SELECT min(c) = 'ab' AS eq, count(*) AS n FROM {s}.p GROUP BY id",
    "grouped twice": "SELECT g.c, g.n, l.id FROM (SELECT c, count(*) AS n FROM {s}.p GROUP BY c) g JOIN {s}.l ON g.c = l.c",
    "apart": "SELECT c, c = 'ab' AS eq FROM (SELECT DISTINCT c FROM {s}.p)",
    "member": "SELECT id FROM {s}.p WHERE c IN (SELECT c FROM {s}.l)",
    "no member": "SELECT id FROM {s}.l WHERE c NOT IN (SELECT c FROM {s}.p)",
    "constant": "SELECT id FROM {s}.l WHERE 'ab' IN (SELECT c FROM {s}.p)",
    "correlated": "SELECT id FROM {s}.p WHERE EXISTS (SELECT 1 FROM {s}.l WHERE l.c = p.c)",
    "both": "SELECT c FROM {s}.p INTERSECT SELECT c FROM {s}.l",
    "either": "SELECT c = 'ab' AS eq, n FROM (SELECT c, count(*) AS n FROM (SELECT c FROM {s}.p UNION ALL SELECT c FROM {s}.l) GROUP BY c)",
    "texts first": "SELECT id, c = 'ab' AS eq FROM (SELECT id, rtrim(c) AS c FROM {s}.p UNION ALL SELECT id, c FROM {s}.l)",
    "without": "SELECT c FROM {s}.l EXCEPT SELECT c FROM {s}.p",
    "joined using": "SELECT c, p.id, l.id AS other, c = 'ab' AS eq FROM {s}.p JOIN {s}.l USING (c)",
    "outer using": "SELECT c, p.id, l.id AS other, c = 'ab' AS eq FROM {s}.p FULL JOIN {s}.l USING (c)",
    "rolled up": "SELECT c = 'ab' AS eq, c, count(*) AS n FROM {s}.p GROUP BY ROLLUP (c)",
    "pivoted": "SELECT * FROM (SELECT id, c FROM {s}.p) PIVOT (count(id) FOR c IN ('ab' AS ab, 'x' AS x))",
}


@pytest.mark.slow
@pytest.mark.spark
def test_texts_of_one_length_are_compared_with_shorter_ones(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.p (id INT, c CHAR(5)) USING DELTA {FEED}",
        f"CREATE TABLE {schema}.l (id INT, c CHAR(10)) USING DELTA {FEED}",
        f"INSERT INTO {schema}.p VALUES (1, 'ab'), (2, 'x')",
        f"INSERT INTO {schema}.l VALUES (1, 'ab'), (2, 'cde')",
    )
    queries = {name.replace(" ", "_"): query.format(s=schema) for name, query in PADDED.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        create_views(engine, schema, queries)
        follow(
            engine,
            schema,
            queries,
            f"INSERT INTO {schema}.p VALUES (3, 'ab'), (4, 'cde')",
            f"INSERT INTO {schema}.l VALUES (3, 'x'), (4, 'ab')",
            f"DELETE FROM {schema}.p WHERE id = 1",
            f"UPDATE {schema}.l SET c = 'cde' WHERE id = 1",
        )
