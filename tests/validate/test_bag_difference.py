"""The difference of bags, run in DuckDB, which groups NULL and NaN as Spark does."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ivm_core.validate.bag_difference import bag_difference

Rows = list[tuple[Any, ...]]


def difference(expected: Rows, actual: Rows, types: dict[str, str], approximate: tuple[str, ...] = ()) -> Counter[Any]:
    """Differing rows with their copies; negative: unexpected."""
    with duckdb.connect() as connection:
        for name, rows in (("e", expected), ("a", actual)):
            columns = ", ".join(f'"{column}" {type_}' for column, type_ in types.items())
            connection.execute(f"CREATE TABLE {name} ({columns})")
            if rows:
                connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(types))})", rows)
        query = bag_difference("e", "a", list(types), approximate).sql("duckdb")
        return Counter({row[:-1]: row[-1] for row in connection.execute(query).fetchall()})


TWO = {"k": "VARCHAR", "n": "INTEGER"}


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ([], [], {}),
        ([("a", 1)], [("a", 1)], {}),
        ([("a", 1), ("a", 1)], [("a", 1)], {("a", 1): 1}),
        ([("a", 1)], [("a", 1), ("a", 1)], {("a", 1): -1}),
        ([(None, None)], [(None, None)], {}),
        ([(None, 1)], [("", 1)], {(None, 1): 1, ("", 1): -1}),
        ([("a", 1), ("b", 2)], [("b", 1), ("a", 2)], {("a", 1): 1, ("b", 2): 1, ("b", 1): -1, ("a", 2): -1}),
    ],
)
def test_exact(expected: Rows, actual: Rows, found: dict[Any, int]) -> None:
    assert difference(expected, actual, TWO) == Counter(found)


row = st.tuples(st.sampled_from([None, "", "a", "b"]), st.sampled_from([None, 0, 1]))


@settings(deadline=None, max_examples=60)
@given(st.lists(row, max_size=8), st.lists(row, max_size=8))
def test_it_is_the_difference_of_multisets(expected: Rows, actual: Rows) -> None:
    counts = Counter(expected)
    counts.subtract(Counter(actual))
    assert difference(expected, actual, TWO) == Counter({key: n for key, n in counts.items() if n})


FLOATS = {"k": "VARCHAR", "x": "DOUBLE"}


@pytest.mark.parametrize(
    ("expected", "actual", "differs"),
    [
        ([("a", 0.1 + 0.2)], [("a", 0.3)], False),
        ([("a", 0.1 + 0.2 - 0.3)], [("a", 0.1 - 0.3 + 0.2)], False),  # nearly 0, by the order
        ([("a", 1e-3)], [("a", 2e-3)], True),
        ([("a", 1.0)], [("a", 1.0 + 1e-6)], True),
        ([("a", 1.0), ("a", 2.0)], [("a", 2.0), ("a", 1.0)], False),
        ([("a", 1.0)], [("b", 1.0)], True),
        ([("a", None)], [("a", None)], False),
        ([("a", None)], [("a", 0.0)], True),
        ([("a", math.nan)], [("a", math.nan)], False),
        ([("a", math.inf)], [("a", math.inf)], False),
        ([("a", math.inf)], [("a", -math.inf)], True),
        ([("a", math.nan)], [("a", 1.0)], True),
        ([("a", 0.0)], [("a", -0.0)], False),
        ([("a", 1e300)], [("a", 1e300 * (1 + 1e-13))], False),
        ([(None, 1.0)], [], True),
        ([("a", 1.0), ("a", 3.0)], [("a", 2.0), ("a", 2.0)], True),
        ([("a", 0.1 + 0.2), ("a", 0.3), ("a", 7.0)], [("a", 0.3), ("a", 7.0), ("a", 0.3)], False),
        ([("a", 5.0), ("a", None), ("b", 5.0)], [("a", None), ("a", 5.0), ("b", 5.0)], False),
    ],
)
def test_sums_of_floats_differ_beyond_a_tolerance(expected: Rows, actual: Rows, differs: bool) -> None:
    types = FLOATS
    # DuckDB spells the special values in lower case.
    assert bool(_spelled(expected, actual, types)) is differs


def test_a_group_that_lacks_a_value_is_told_of_once() -> None:
    values = [("a", float(number)) for number in range(6)]
    (found,) = _spelled(values, values[1:], FLOATS).items()
    assert (found[0][0], found[1]) == ("a", 1)


SEVERAL = {"k": "VARCHAR", "x": "DOUBLE", "y": "DOUBLE"}


@pytest.mark.parametrize(
    ("expected", "actual", "differs"),
    [
        ([("a", 1.0, 0.3), ("a", 2.0, 0.1 + 0.2)], [("a", 2.0, 0.3), ("a", 1.0, 0.1 + 0.2)], False),
        ([("a", 1.0, 5.0), ("a", 3.0, 5.0)], [("a", 2.0, 5.0), ("a", 2.0, 5.0)], True),
        ([("a", 1e200, 5.0)], [("a", 1e200, 5.0)], False),
        ([("a", 1e200, 5.0)], [("a", 2e200, 5.0)], True),
        ([("a", 1.0, None)], [("a", 1.0, 0.0)], True),
    ],
)
def test_several_columns_of_floats(expected: Rows, actual: Rows, differs: bool) -> None:
    assert bool(_spelled(expected, actual, SEVERAL, ("x", "y"))) is differs


def _spelled(
    expected: Rows, actual: Rows, types: dict[str, str], approximate: tuple[str, ...] = ("x",)
) -> Counter[Any]:
    from ivm_core.validate import bag_difference as module

    original = module._SPECIAL
    module._SPECIAL = ("nan", "inf", "-inf")
    try:
        return difference(expected, actual, types, approximate)
    finally:
        module._SPECIAL = original
