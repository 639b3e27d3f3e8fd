"""Plan text: what it looks like, and that it can be read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from sqlglot import exp

from ivm_core.plan.explain import explain, fingerprint
from ivm_core.plan.explain_expressions import canonical, read_expression
from ivm_core.plan.nodes import At, Filter, Named, Plan, Project, Scan, ScanColumn, column
from ivm_core.plan.read_text import PlanTextError, read_text
from tests.plans import plans
from tests.spec import Spec, read_specs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan"


@given(plans(ats=tuple(At), with_changes=True))
@settings(deadline=None)
def test_text_reads_back_as_the_same_plan(plan: Plan) -> None:
    text = explain(plan)
    assert read_text(text) == plan
    assert explain(read_text(text)) == text


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "explain.spec"), ids=str)
def test_text_is_spelled_in_one_way(spec: Spec) -> None:
    assert explain(read_text(spec.input)) == spec.expected


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "explain_errors.spec"), ids=str)
def test_wrong_text_is_refused(spec: Spec) -> None:
    with pytest.raises(PlanTextError) as refusal:
        read_text(spec.input)
    assert spec.expected in str(refusal.value)


def test_empty_text_is_refused() -> None:
    with pytest.raises(PlanTextError):
        read_text(" \n")


def test_fingerprint_tells_plans_apart_and_nothing_else() -> None:
    scan = Scan("default.t", (ScanColumn("a", "a", "int"),))
    one = Filter(scan, read_expression("a > 1"))
    assert fingerprint(one) == fingerprint(Filter(scan, read_expression("`a`  >  1 /* why */")))
    assert fingerprint(one) != fingerprint(Filter(scan, read_expression("a > 2")))
    assert len(fingerprint(one)) == 16


def test_expressions_have_one_form_however_they_are_built() -> None:
    built = exp.cast(exp.column("a") / exp.column("b"), "bigint")
    assert canonical(built) == read_expression("cast(a / b as bigint)")
    assert read_expression("a") == column("a")
    assert read_expression("try_cast(a as int)") != read_expression("cast(a as int)")
    assert canonical(canonical(built)) == canonical(built)


def test_names_that_are_no_words_survive() -> None:
    scan = Scan(
        "default.my-table", (ScanColumn("d d", "d`d", "int"), ScanColumn("select", "now", "array<struct<a:int>>"))
    )
    plan = Project(scan, (Named("a, b = c", column("d d")), Named("ü", column("select"))))
    assert read_text(explain(plan)) == plan
