"""What takes the place of values that Spark does not compare; ``map()`` has none, for its type cannot be written."""

from __future__ import annotations

import pytest
from sqlglot import exp

from ivm_core.plan.comparable import as_comparable, from_comparable


@pytest.mark.parametrize("type_", ["map<void,void>", "map<string,void>", "struct<x:array<void>,m:map<int,int>>"])
def test_nothing_takes_the_place_of_a_map_of_void(type_: str) -> None:
    assert as_comparable(exp.column("m"), type_) is None
    assert from_comparable(exp.column("m"), type_) is None
