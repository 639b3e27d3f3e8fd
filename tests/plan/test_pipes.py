"""Pipes as the nested queries they stand for, and what is said of those that stand for none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ivm_core.errors import DefinitionError
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.statement import parse_queries, tokenize
from tests.plan.queries import TABLES
from tests.spec import Spec, read_specs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan"


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "pipes.spec"), ids=str)
def test_pipes_stand_for_this_query(spec: Spec) -> None:
    (tree,) = parse_queries(tokenize(spec.input), spec.input)
    assert tree.sql("spark") == spec.expected
    assert from_sql(spec.input, TABLES, "shop") == from_sql(spec.expected, TABLES, "shop")


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "pipes_errors.spec"), ids=str)
def test_mistake_is_answered(spec: Spec) -> None:
    with pytest.raises(DefinitionError) as caught:
        from_sql(spec.input, TABLES, "shop")
    assert f"{type(caught.value).__name__}: {caught.value}" == spec.expected
