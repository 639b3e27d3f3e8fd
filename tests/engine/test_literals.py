"""Values become literals of exactly their type: a predicate made of them keeps the rows that have them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm_core.engine.literals import family, literal, widened
from ivm_core.engine.small import ColumnValues, SmallRelation, predicate, read_values, values_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (5, "int", "5"),
        (-5, "bigint", "-5L"),
        (-127, "tinyint", "-127Y"),
        (-(2**15), "smallint", "CAST('-32768' AS SMALLINT)"),
        (-(2**63), "bigint", "CAST('-9223372036854775808' AS BIGINT)"),
        ("12.50", "decimal(10,2)", "CAST('12.50' AS DECIMAL(10, 2))"),
        ("2026-01-31", "date", "CAST('2026-01-31' AS DATE)"),
        (1_700_000_000_000_001, "timestamp", "timestamp_micros(CAST('1700000000000001' AS BIGINT))"),
        ("it's \\ here", "string", "'it\\'s \\\\ here'"),
    ],
)
def test_spelling(value: Any, type_: str, expected: str) -> None:
    assert literal(value, type_).sql("spark").lower() == expected.lower()


@pytest.mark.parametrize(
    "type_", ["double", "float", "boolean", "binary", "array<int>", "string collate unicode_ci", "map<int,int>"]
)
def test_types_without_literals(type_: str) -> None:
    assert family(type_) is None


VALUES: dict[str, list[Any]] = {
    "bigint": [0, -1, 2**63 - 1, -(2**63)],
    "int": [0, 2**31 - 1, -(2**31), -(2**31) + 1],
    "smallint": [2**15 - 1, -(2**15), -(2**15) + 1],
    "tinyint": [-128, -127, 127],
    "decimal(38,10)": [Decimal("0.0000000001"), Decimal("-9999999999999999999999999999.9999999999")],
    "date": [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)],
    # The hour that European summer time ends in occurs twice.
    "timestamp": [datetime(2024, 10, 27, 2, 30), datetime(1900, 1, 1, 0, 0, 0, 1)],
    "timestamp_ntz": [datetime(2024, 3, 31, 2, 30), datetime(1, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 999999)],
    # Spark puts settings into the text of a query, and reads digits after a backslash and a 0 as another character.
    "string": [
        "",
        " ",
        "it's",
        "back\\slash",
        "new\nline",
        "`q`",
        '"',
        "Ω≈ç",
        "%_",
        "\\'",
        "NULL",
        "{x}",
        "a\tb",
        "${user.home} ${nothing} $x",
        "$",
        "nul\x0012",
        "\x00",
    ],
}


@pytest.mark.spark
@pytest.mark.parametrize("cap", [100, 1], ids=["list", "range"])
def test_a_predicate_keeps_the_rows_with_its_values(spark: SparkSession, cap: int) -> None:
    """For every type at once: rows with the values, with others, and with NULL."""
    for type_, values in VALUES.items():
        everything = spark.createDataFrame([(value,) for value in [*values, None]], f"v {type_}")
        kept = values[::2]
        small = spark.createDataFrame([(value,) for value in kept], f"v {type_}")
        for nulls in (False, True):
            part = small.unionAll(everything.where("v IS NULL")) if nulls else small
            relation = SmallRelation(part, part.count())
            read_values(relation, ["v"], cap)
            known = relation.values["v"]
            assert known is not None
            assert (known.listed is not None) is (len(kept) + nulls <= cap or len(kept) <= cap)
            condition = predicate("v", "", known, nulls=nulls)
            assert condition is not None
            found = everything.where(condition.sql("spark"))
            wanted = set(kept) | ({None} if nulls else set())
            seen = {row["v"] for row in found.collect()}
            assert seen >= wanted, (type_, seen)
            assert (None in seen) is nulls
            if known.listed is not None:
                assert seen == wanted, type_


UNTOLD = {
    "string": pa.array([b"ok", b"\xff"]).cast(pa.string(), safe=False),
    "date": pa.array([0, 3_000_000], pa.int32()).cast(pa.date32()),
    "timestamp_ntz": pa.array([0, 10**18], pa.int64()).cast(pa.timestamp("us")),
}


@pytest.mark.parametrize("type_", UNTOLD)
def test_of_what_python_cannot_tell_nothing_is_known(type_: str) -> None:
    column = pa.chunked_array([UNTOLD[type_]])
    assert values_of(column, type_, 10) is None
    assert values_of(column.slice(0, 1), type_, 10) is not None


INTEGERS = {"tinyint": 7, "smallint": 15, "int": 31, "bigint": 63}


@given(data=st.data(), type_=st.sampled_from(sorted(INTEGERS)))
def test_a_widened_range_is_around_the_range_and_of_its_type(data: st.DataObject, type_: str) -> None:
    ends = st.integers(-(2 ** INTEGERS[type_]), 2 ** INTEGERS[type_] - 1)
    low, high = sorted((data.draw(ends), data.draw(ends)))
    wider_low, wider_high = widened(low, high, type_)
    assert -(2 ** INTEGERS[type_]) <= wider_low <= low <= high <= wider_high < 2 ** INTEGERS[type_]
    most = min(max(abs(low), abs(high)) / 16, 2**19)
    assert low - wider_low <= most and wider_high - high <= most


def test_a_widened_range_stays_the_same_while_keys_are_added() -> None:
    assert len({widened(21 + n, 99_000 + n, "bigint") for n in range(0, 1000, 10)}) <= 3
    assert widened("a", "b", "string") == ("a", "b")


@pytest.mark.spark
@pytest.mark.parametrize("type_", INTEGERS)
def test_a_range_up_to_the_ends_of_a_type_is_one_to_spark(spark: SparkSession, type_: str) -> None:
    ends = (-(2 ** INTEGERS[type_]), 2 ** INTEGERS[type_] - 1)
    rows = spark.sql(f"SELECT CAST(v AS {type_}) AS v FROM VALUES ({ends[0]}), ({ends[1]}), (NULL) AS t (v)")
    condition = predicate("v", "", ColumnValues(type_, None, *ends, False), nulls=False)
    assert condition is not None
    assert rows.where(condition.sql("spark")).count() == 2


@pytest.mark.spark
def test_of_bytes_that_are_no_text_nothing_is_known(spark: SparkSession) -> None:
    frame = spark.sql("SELECT CAST(X'FF' AS STRING) AS v, 1 AS k")
    relation = SmallRelation(frame, 1)
    read_values(relation, ["v", "k"], 10)
    assert relation.known("v") is None and relation.known("k") is not None


@pytest.mark.spark
def test_no_values_keep_nothing(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], "v int")
    relation = SmallRelation(empty, 0)
    read_values(relation, ["v"], 10)
    known = relation.values["v"]
    assert known is not None
    condition = predicate("v", "", known, nulls=False)
    assert condition is not None
    assert spark.range(3).selectExpr("CAST(id AS INT) AS v").where(condition.sql("spark")).count() == 0
