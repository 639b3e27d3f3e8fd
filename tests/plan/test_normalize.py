"""Every rule of normalising against its fixture file: what it rewrites, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import Plan, walk
from ivm_core.plan.normalize import RULES, normalize
from ivm_core.plan.read_text import read_text
from ivm_core.plan.rewrite import transform_up
from ivm_core.plan.types_plan import types_of
from tests.plans import Row, databases, plans
from tests.spec import Spec, read_specs
from tests.stepwise import fill, open_database, run_stepwise

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan" / "normalize"
CASES = [(rule, spec) for rule in RULES for spec in read_specs(FIXTURES / f"{rule.__name__}.spec")]


@pytest.mark.parametrize(("rule", "spec"), CASES, ids=[f"{rule.__name__}: {spec.title}" for rule, spec in CASES])
def test_rule(rule, spec: Spec) -> None:  # type: ignore[no-untyped-def]
    rewritten = transform_up(read_text(spec.input), rule)
    assert explain(rewritten).rstrip() == spec.expected
    assert transform_up(rewritten, rule) == rewritten


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_has_cases_of_both_kinds(rule) -> None:  # type: ignore[no-untyped-def]
    specs = read_specs(FIXTURES / f"{rule.__name__}.spec")
    assert any(spec.input != spec.expected for spec in specs)
    assert any(spec.input == spec.expected for spec in specs)


@given(plan=plans())
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
def test_normal_plans_are_normal_and_have_the_same_columns(plan: Plan) -> None:
    normal = normalize(plan)
    assert normalize(normal) == normal
    assert normal.names == plan.names
    before, after = types_of(plan), types_of(normal)
    assert all(before[name] in (None, after[name]) for name in plan.names)
    assert len(list(walk(normal))) < 1000


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with open_database() as opened:
        yield opened


@given(plan=plans(), database=databases())
@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=150)
def test_normal_plans_mean_the_same(
    connection: duckdb.DuckDBPyConnection, plan: Plan, database: dict[str, list[Row]]
) -> None:
    fill(connection, database)
    normal = normalize(plan)
    assert run_stepwise(connection, normal) == run_stepwise(connection, plan), f"{explain(plan)}\n{explain(normal)}"
