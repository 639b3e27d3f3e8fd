"""A sample is taken by whole groups, of values that hash alike where they are equal."""

from __future__ import annotations

import pytest

from ivm_core.validate.sample import sample_condition

TYPES = {
    "k": "int",
    "d": "decimal(9,2)",
    "f": "double",
    "m": "map<int,int>",
    "a": "array<float>",
    "s": "string collate UTF8_LCASE",
}


@pytest.mark.parametrize(
    ("keys", "share", "expected"),
    [
        ((), 0.01, "PMOD(XXHASH64(7, `k`, `d`), 1000000) < 10000"),
        (("k",), 0.5, "PMOD(XXHASH64(7, `k`), 1000000) < 500000"),
        (("k", "f"), 0.000_000_1, "PMOD(XXHASH64(7, `k`), 1000000) < 1"),
        (("f", "m", "a", "s"), 0.01, None),
        (("k",), 1.0, None),
    ],
)
def test_condition(keys, share, expected):
    found = sample_condition(TYPES, keys, share, 7)
    assert (found and found.sql("spark")) == expected
