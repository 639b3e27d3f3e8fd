"""Relations that a batch computes once: which of them this process holds."""

from __future__ import annotations

import pytest

from ivm_core.engine import small

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("few", [True, False], ids=["few changes", "many changes"])
@pytest.mark.parametrize(
    ("query", "rows", "added", "removed", "is_here"),
    [
        ("SELECT id % 3 AS k, -1L AS __ivm_weight FROM range(90) GROUP BY 1", 3, 0, 3, True),
        ("SELECT id AS k, IF(id < 30, 2L, -1L) AS __ivm_weight FROM range(40)", 40, 60, 10, False),
        ("SELECT named_struct('a', id) AS k FROM range(2)", 2, 0, 0, False),
        ("SELECT id AS k FROM range(0)", 0, 0, 0, True),
    ],
    ids=["few rows", "many rows", "a struct", "none"],
)
def test_few_rows_of_plain_types_are_held_here(spark, monkeypatch, few, query, rows, added, removed, is_here):
    monkeypatch.setattr(small, "HERE", 10)
    relation = small.compute(spark, spark.sql(query), few=few)
    assert few or relation.here is None
    relation = small.brought_here(spark, relation)
    try:
        assert (relation.rows, relation.added, relation.removed) == (rows, added, removed)
        assert (relation.here is not None) is is_here
        assert sorted(relation.frame.collect()) == sorted(spark.sql(query).collect())
    finally:
        relation.release()
