"""Rows of this process in Spark's plans: part of them where they are few, else beside them, with their size known."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from ivm_core.engine import queries
from ivm_core.engine.queries import fetch, frame_of, is_connect

pytestmark = pytest.mark.spark

ROWS = pa.table(
    {
        "k": pa.array([1, 2, None], pa.int32()),
        "text": ["x", None, "é"],
        "price": pa.array([Decimal("1.50"), None, Decimal("-2.00")], pa.decimal128(10, 2)),
        "at": pa.array([datetime(2024, 3, 31, 1, 30, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
        "local": pa.array([datetime(2024, 3, 31, 2, 30), None, None], pa.timestamp("us")),
        "real": [float("nan"), -0.0, None],
    }
)
EMPTY = pa.RecordBatch.from_pylist([], ROWS.schema)


@pytest.mark.parametrize("in_plans", [2, 3])
def test_rows_are_the_same_wherever_they_stand(spark, monkeypatch, in_plans):
    monkeypatch.setattr(queries, "IN_PLANS", in_plans)
    frame = frame_of(spark, ROWS)
    found, _ = fetch(frame.unionAll(frame))
    assert found.schema.types == ROWS.schema.types
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, 2 * ROWS.to_pylist()))


@pytest.mark.parametrize("in_plans", [2, 100])
@pytest.mark.parametrize("sizes", [(3, 0, 3), (0, 3), (0, 0, 3, 0, 3, 0, 0), (0,), ()], ids=str)
def test_rows_in_parts_of_which_some_are_empty(spark, monkeypatch, in_plans, sizes):
    monkeypatch.setattr(queries, "IN_PLANS", in_plans)
    rows = pa.Table.from_batches(
        [ROWS.slice(0, size).combine_chunks().to_batches()[0] if size else EMPTY for size in sizes], ROWS.schema
    )
    assert rows.num_rows == sum(sizes)
    found, _ = fetch(frame_of(spark, rows))
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, rows.to_pylist()))


def test_many_rows_are_no_part_of_a_plan_that_knows_their_size(spark, monkeypatch):
    if is_connect(spark):
        pytest.skip("over Connect rows go along with the queries that read them")
    sizes = []
    for in_plans in (3, 2):
        monkeypatch.setattr(queries, "IN_PLANS", in_plans)
        plan = frame_of(spark, ROWS)._jdf.queryExecution().optimizedPlan()
        sizes.append((plan.nodeName(), plan.stats().sizeInBytes()))
    assert [name for name, _ in sizes] == ["LocalRelation", "LogicalRDD"]
    assert sizes[0][1] == sizes[1][1]
