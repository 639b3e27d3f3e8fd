"""Averages and sums that come back from accumulators have the very digits and types of Spark's own."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from sqlglot import exp

from ivm_core.delta.accumulators import Accumulators, Unmergeable, accumulate
from ivm_core.plan.nodes import Named, column

MERGED = [(5, 2), (12, 2), (15, 2), (15, 6), (18, 4), (20, 0), (22, 6), (25, 4), (27, 10), (28, 3)]
NOT_MERGED = [(30, 2), (32, 12), (38, 4), (38, 18)]
CALLS = (Named("a", exp.Avg(this=column("x"))), Named("s", exp.Sum(this=column("x"))))


def rows(precision: int, scale: int) -> list[tuple[int, Decimal | None]]:
    chance = random.Random(precision * 100 + scale)
    made = []
    for group in range(60):
        for _ in range(chance.choice([1, 2, 3, 6, 7, 11, 13, 37])):
            bound = 10**precision if chance.random() < 0.7 else 20
            value = Decimal(chance.randrange(-bound + 1, bound)).scaleb(-scale)
            made.append((group, value if chance.random() < 0.9 else None))
    return made


@pytest.mark.spark
@pytest.mark.parametrize(("precision", "scale"), MERGED)
def test_decimals_come_back_with_sparks_digits(spark, precision, scale):
    type_ = f"decimal({precision},{scale})"
    outcome = accumulate(CALLS, {"x": type_})
    assert isinstance(outcome, Accumulators)
    spark.createDataFrame(rows(precision, scale), f"g int, x {type_}").createOrReplaceTempView("averaged")
    stored = ", ".join(exp.alias_(a.stored.expression, a.name).sql("spark") for a in outcome.columns)
    finished = ", ".join(exp.alias_(a.finished(), a.name).sql("spark") for a in outcome.columns)
    average, total = (value.sql("spark") for value in outcome.finish)
    own = spark.sql("SELECT g, avg(x) AS a, sum(x) AS s FROM averaged GROUP BY g")
    ours = spark.sql(
        f"SELECT g, {average} AS a, {total} AS s FROM (SELECT g, {finished} FROM (SELECT g, {stored} FROM averaged GROUP BY g))"
    )
    assert own.dtypes == ours.dtypes
    assert own.exceptAll(ours).collect() == ours.exceptAll(own).collect() == []


@pytest.mark.parametrize(("precision", "scale"), NOT_MERGED)
def test_what_would_lose_digits_is_not_merged(precision, scale):
    assert "cannot be merged exactly" in str(accumulate(CALLS, {"x": f"decimal({precision},{scale})"}))


@pytest.mark.parametrize("call", ["SUM(x)", "AVG(x)", "VARIANCE(x)", "STDDEV(x)"])
def test_floats_are_not_merged(call):
    tree = exp.maybe_parse(call, dialect="spark").transform(
        lambda n: column(n.name) if isinstance(n, exp.Column) else n
    )
    assert isinstance(accumulate((Named("a", tree),), {"x": "double"}), Unmergeable)
