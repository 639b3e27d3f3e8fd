"""Views over tables whose columns Delta makes itself: the state has their values, not how they come about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ivm_core import Engine
from ivm_core.engine.log import TableLog
from ivm_core.engine.plain_files import columns_alone
from tests.maintain.database import FEED, create_views, follow, run, set_limits
from tests.sampling import one_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {
    "rows": "SELECT id, day FROM {s}.t",
    "moved": "SELECT id, TIMESTAMP '2020-01-01 00:00:00' AS at, day FROM {s}.t",
    "groups": "SELECT day, count(*) AS n, max(id) AS last FROM {s}.t GROUP BY day",
}


def field(name: str, type_: Any, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "nullable": True, "metadata": metadata}


def test_what_delta_notes_of_columns_is_left_out() -> None:
    inner = {"type": "struct", "fields": [field("metadata", "long", note=1)]}
    listed = {"type": "array", "elementType": inner, "containsNull": True}
    expression = {"delta.generationExpression": "CAST(at AS DATE)", "comment": "the day"}
    schema = {"type": "struct", "fields": [field("day", "date", **expression), field("l", listed, note=2)]}
    found = columns_alone(json.dumps(schema))
    assert found.simpleString() == "struct<day:date,l:array<struct<metadata:bigint>>>"
    assert "note" not in found.json() and "CAST" not in found.json()


@pytest.mark.spark
@pytest.mark.parametrize("rows", one_in(2, [0, None], 1), ids=["by Spark", "by this process"])
def test_views_of_generated_columns(spark: SparkSession, schema: str, tmp_path: Path, rows: int | None) -> None:
    run(
        spark,
        f"CREATE TABLE {schema}.t (id BIGINT GENERATED ALWAYS AS IDENTITY, at TIMESTAMP, "
        f"day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), v INT) USING DELTA {FEED}",
        f"INSERT INTO {schema}.t (at, v) VALUES (TIMESTAMP '2024-01-01 10:00:00', 1), (TIMESTAMP '2024-01-02 10:00:00', 2)",
    )
    queries = {name: query.format(s=schema) for name, query in QUERIES.items()}
    with Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w") as engine:
        if rows is not None:
            set_limits(engine, replace_rows=rows)
        create_views(engine, schema, queries)
        for view in engine.catalog.views():
            stored = TableLog(view.location)._open().schema().to_json()
            assert "delta.generationExpression" not in stored and "delta.identity" not in stored, view.name
        follow(
            engine,
            schema,
            queries,
            f"INSERT INTO {schema}.t (at, v) VALUES (TIMESTAMP '2024-01-02 23:00:00', 3), (NULL, 4)",
            f"UPDATE {schema}.t SET at = TIMESTAMP '2024-02-02 00:00:00' WHERE v = 1",
            f"DELETE FROM {schema}.t WHERE v = 2",
            strategies=("incremental", "affected"),
        )
