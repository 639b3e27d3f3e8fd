"""Every rule against its fixture file: what it rewrites, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.matched_groups import over_matches
from ivm_core.delta.simplify import PASSES, RULES, simplify, simplify_locally
from ivm_core.plan.explain import explain
from ivm_core.plan.nodes import Plan, base_tables
from ivm_core.plan.read_text import read_text
from ivm_core.plan.rewrite import transform_up
from tests.spec import Spec, read_specs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "delta"


def differentiate_moving(plan: Plan) -> Plan:
    """The delta where every table has changes, those called ``still…`` apart."""
    return differentiate(plan, frozenset(t for t in base_tables(plan) if not t.startswith("default.still")))


SUBJECTS: dict[str, Callable[[Plan], Plan]] = {
    **{rule.__name__: lambda plan, rule=rule: transform_up(plan, rule) for rule in RULES},
    **{step.__name__: step for step in PASSES if step is not simplify_locally},
    "simplify": simplify,
    "over_matches": lambda plan: transform_up(plan, over_matches),
    "differentiate": differentiate_moving,
}
CASES = [(name, spec) for name in SUBJECTS for spec in read_specs(FIXTURES / f"{name}.spec")]


@pytest.mark.parametrize(("name", "spec"), CASES, ids=[f"{name}: {spec.title}" for name, spec in CASES])
def test_rule(name: str, spec: Spec) -> None:
    assert explain(SUBJECTS[name](read_text(spec.input))).rstrip() == spec.expected


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name != "differentiate"])
def test_rule_has_cases_of_both_kinds(name: str) -> None:
    specs = read_specs(FIXTURES / f"{name}.spec")
    assert any(spec.input != spec.expected for spec in specs)
    assert any(spec.input == spec.expected for spec in specs)


@pytest.mark.parametrize(("name", "spec"), CASES, ids=[f"{name}: {spec.title}" for name, spec in CASES])
def test_rule_has_nothing_left_to_do(name: str, spec: Spec) -> None:
    if name != "differentiate":
        expected = read_text(spec.expected)
        assert SUBJECTS[name](expected) == expected
