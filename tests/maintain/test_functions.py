"""Functions that a user registered in the session: of a row, in Python and in SQL, and of a group."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql.functions import pandas_udf

from ivm_core import Engine
from ivm_core.errors import DefinitionError, UnsupportedConstruct
from tests.bags import difference
from tests.maintain.database import FEED

pytestmark = pytest.mark.spark

# Not `auto`, which may choose to refresh so few rows in full.
PLAIN = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental')"
DECLARED = "TBLPROPERTIES ('ivm.refresh_policy' = 'incremental', 'ivm.aggregate_functions' = 'middle')"
VIEWS = {
    "of_rows": (PLAIN, "SELECT id, twice(v) AS w, shout(g) AS g FROM own.t WHERE twice(v) > 2"),
    "of_keys": (
        "",
        "SELECT shout(g) AS g, count(*) AS n, sum(CAST(twice(v) AS int)) AS s FROM own.t GROUP BY shout(g)",
    ),
    "of_groups": (DECLARED, "SELECT g, middle(v) AS m FROM own.t GROUP BY g"),
    "of_sets": (DECLARED, "SELECT g, v % 2 AS odd, middle(v) AS m FROM own.t GROUP BY GROUPING SETS ((g), (g, v % 2))"),
    "of_joined": (
        DECLARED,
        "SELECT a.g, middle(a.v) + 1 AS m FROM own.t a JOIN own.t b ON a.g = b.g GROUP BY a.g HAVING middle(a.v) > 1",
    ),
}
STRATEGIES = {"of_rows": "incremental", "of_keys": "incremental"}


def _middle(values: pd.Series) -> float:
    return float(values.dropna().median()) if values.notna().any() else -1.0


@pytest.fixture
def engine(spark, tmp_path):
    spark.udf.register("twice", lambda v: None if v is None else 2 * v, "int")
    spark.udf.register("middle", pandas_udf(_middle, "double"))
    spark.sql("CREATE TEMPORARY FUNCTION shout(s string) RETURNS string RETURN upper(coalesce(s, '?'))").collect()
    spark.sql("CREATE SCHEMA own").collect()
    spark.sql(f"CREATE TABLE own.t (id int, g string, v int) USING DELTA {FEED}").collect()
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        yield engine
    spark.sql("DROP SCHEMA own CASCADE").collect()
    spark.sql("DROP TEMPORARY FUNCTION shout").collect()


def _views() -> dict[str, str]:
    return {
        name: f"CREATE INCREMENTAL MATERIALIZED VIEW own.{name} {properties} AS {query}"
        for name, (properties, query) in VIEWS.items()
    }


def test_views_follow_their_tables(spark, engine):
    spark.sql("INSERT INTO own.t VALUES (1, 'a', 1), (2, 'a', 5), (3, 'B', 2), (4, NULL, NULL)").collect()
    for statement in _views().values():
        engine.create(statement)
    for change in (
        "INSERT INTO own.t VALUES (5, 'A', 3), (6, 'a', 9), (7, NULL, 4)",
        "MERGE INTO own.t USING (SELECT * FROM VALUES (1), (4), (3) AS c (id)) AS c ON t.id = c.id "
        "WHEN MATCHED AND t.id = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET v = coalesce(v, 0) + 2",
        "DELETE FROM own.t WHERE v > 0",
    ):
        spark.sql(change).collect()
        for report in engine.maintain(policy="incremental"):
            name = report.view.removeprefix("own.")
            assert (report.error, str(report.strategy)) == (None, STRATEGIES.get(name, "affected")), change
            assert not difference(engine.read(report.view), spark.sql(VIEWS[name][1])), (name, change)
    assert all(engine.validate(f"own.{name}").ok for name in VIEWS)


def test_what_cannot_be_kept_is_refused(engine):
    undeclared = "CREATE INCREMENTAL MATERIALIZED VIEW own.x AS SELECT g, middle(v) AS m FROM own.t GROUP BY g"
    with pytest.raises(DefinitionError, match=r"ivm\.aggregate_functions"):
        engine.create(undeclared)
    filtered = f"CREATE INCREMENTAL MATERIALIZED VIEW own.x {DECLARED} AS SELECT middle(v) FILTER (WHERE v > 1) FROM own.t GROUP BY g"
    with pytest.raises(UnsupportedConstruct, match=r"Middle\(\) with FILTER"):
        engine.create(filtered)
    with pytest.raises(DefinitionError, match="is not a list of names"):
        engine.create(undeclared.replace("own.x", "own.x TBLPROPERTIES ('ivm.aggregate_functions' = 'a; b')"))
