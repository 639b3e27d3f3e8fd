"""How benchmarks compare a view with its query: as bags, by hashes of their rows where these tell."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from bench.plain_spark import same_rows


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "expected", "actual", "same"),
    [
        ("a INT, b STRING", "(1, 'x'), (2, NULL), (2, NULL)", "(2, NULL), (1, 'x'), (2, NULL)", True),
        ("a INT, b STRING", "(1, 'x'), (2, NULL), (2, NULL)", "(1, 'x'), (2, NULL), (1, 'x')", False),
        ("a INT, b STRING", "(1, 'x'), (1, 'x')", "(1, 'x')", False),
        # Hashes alone pass over NULL: these would be the same.
        ("a STRING, b STRING", "('x', NULL)", "(NULL, 'x')", False),
        ("a STRING, b STRING", "('', 'x')", "(NULL, 'x')", False),
        ("a ARRAY<INT>, b INT", "(array(1, NULL), 1)", "(array(NULL, 1), 1)", False),
        ("a ARRAY<INT>, b INT", "(array(1, NULL), 1)", "(array(1, NULL), 1)", True),
        # The last digits of sums in another order.
        ("a INT, b DOUBLE", "(1, 0.1D + 0.2D)", "(1, 0.3D)", True),
        ("a INT, b DOUBLE", "(1, 0.1D), (2, 0.7D)", "(1, 0.1D), (2, 0.8D)", False),
    ],
)
def test_same_rows(spark: SparkSession, columns: str, expected: str, actual: str, same: bool) -> None:
    names = [column.split()[0] for column in columns.split(", ")]
    casts = [
        f"CAST(col{place} AS {column.split()[1]}) AS {names[place - 1]}"
        for place, column in enumerate(columns.split(", "), 1)
    ]

    def rows(values: str):
        return spark.sql(f"SELECT {', '.join(casts)} FROM VALUES {values}")

    assert same_rows(spark, rows(expected), rows(actual)) is same


@pytest.mark.spark
def test_no_rows_are_the_same_as_no_rows_and_not_as_one(spark: SparkSession) -> None:
    none, one = spark.sql("SELECT 1 AS a WHERE false"), spark.sql("SELECT 1 AS a")
    assert same_rows(spark, none, none) and not same_rows(spark, none, one)
