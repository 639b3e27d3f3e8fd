"""Traversals keep what they do not change, and scalar substitution keeps the meaning of operators."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from ivm_core.plan.explain_expressions import read_expression, spell
from ivm_core.plan.fixpoint import fixpoint
from ivm_core.plan.nodes import Distinct, Filter, Plan, Scan, UnionAll, operators, sources, walk
from ivm_core.plan.read_text import read_text
from ivm_core.plan.rewrite import (
    both,
    conjuncts,
    substitute,
    transform_down,
    transform_up,
    with_sources,
)
from ivm_core.plan.share import Sharing, inputs_first, repeated
from tests.plans import plans

TWO_FILTERS = read_text("Filter a > 1\n  Filter a > 2\n    Scan default.t [a: int]")


def merge_filters(plan: Plan) -> Plan:
    match plan:
        case Filter(Filter(source, inner), outer):
            merged = both(inner, outer)
            assert merged is not None
            return Filter(source, merged)
    return plan


def drop_distinct(plan: Plan) -> Plan:
    return plan.source if isinstance(plan, Distinct) else plan


@given(plans())
@settings(deadline=None)
def test_traversals_without_changes_return_the_plan_itself(plan: Plan) -> None:
    assert transform_up(plan, lambda node: node) is plan
    assert transform_down(plan, lambda node: node) is plan
    shared = Sharing()(plan)
    assert fixpoint(shared, [lambda node: node]) is shared
    assert shared == plan


@given(plans())
@settings(deadline=None)
def test_every_operator_is_rebuilt_from_its_sources(plan: Plan) -> None:
    for node in walk(plan):
        assert with_sources(node, sources(node)) == node
        with pytest.raises(ValueError, match="sources"):
            with_sources(node, (*sources(node), plan))


@given(plans())
@settings(deadline=None)
def test_traversals_reach_every_operator(plan: Plan) -> None:
    assert not any(isinstance(node, Distinct) for node in walk(transform_up(plan, drop_distinct)))
    seen: list[Plan] = []

    def see(node: Plan) -> Plan:
        seen.append(node)
        return node

    transform_down(plan, see)
    assert seen == list(operators(plan))
    assert set(seen) == set(walk(plan))


def test_fixpoint_repeats_until_nothing_changes() -> None:
    three = Filter(TWO_FILTERS, read_expression("a > 3"))
    assert fixpoint(three, [merge_filters]) == read_text("Filter a > 2 AND a > 1 AND a > 3\n  Scan default.t [a: int]")


def test_rules_that_undo_each_other_are_named() -> None:
    def grow(plan: Plan) -> Plan:
        return Distinct(plan) if isinstance(plan, Scan) else plan

    with pytest.raises(RuntimeError, match="grow"):
        fixpoint(TWO_FILTERS, [grow], limit=5)


def test_shared_subplans_stay_shared() -> None:
    scan = read_text("Scan default.t [a: int]")
    both_sides = read_text("UnionAll\n  Scan default.t [a: int]\n  Scan default.t [a: int]")
    plan = with_sources(both_sides, (Distinct(scan), Distinct(scan)))
    shared = with_sources(both_sides, (sources(plan)[0],) * 2)
    left, right = sources(
        transform_up(shared, lambda node: Filter(node, read_expression("a > 1")) if node is scan else node)
    )
    assert left is right


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a * 2", "(b + c) * 2"),
        ("x - a", "x - (b + c)"),
        ("COALESCE(a, 1)", "COALESCE(b + c, 1)"),
        ("-a", "-(b + c)"),
        ("a IS NULL", "(b + c) IS NULL"),
        ("x BETWEEN a AND 3", "x BETWEEN (b + c) AND 3"),
        ("a", "b + c"),
        ("CASE WHEN a > 1 THEN a END", "CASE WHEN (b + c) > 1 THEN b + c END"),
        ("SUM(DISTINCT a)", "SUM(DISTINCT b + c)"),
        ("m[a] + a.f", "m[b + c] + (b + c).f"),
    ],
)
def test_substituted_operators_stay_whole(before: str, after: str) -> None:
    result = substitute(read_expression(before), {"a": read_expression("b + c")})
    assert spell(result) == after
    assert read_expression(spell(result)) == result


def test_substitution_leaves_its_argument_alone() -> None:
    expression = read_expression("a + a")
    substitute(expression, {"a": read_expression("b")})
    assert expression == read_expression("a + a")


def test_conditions_are_taken_apart_and_put_together() -> None:
    condition = read_expression("(a = 1 AND (b = 2 OR c = 3)) AND (d = 4 AND a = 1)")
    assert [spell(part) for part in conjuncts(condition)] == ["a = 1", "b = 2 OR c = 3", "d = 4", "a = 1"]
    assert both(condition, None, read_expression("d = 4")) == read_expression("a = 1 AND (b = 2 OR c = 3) AND d = 4")
    assert both(None) is None
    assert conjuncts(None) == ()


@given(plans())
@settings(deadline=None)
def test_a_shared_plan_is_equal_and_has_equal_subplans_as_one_object(plan: Plan) -> None:
    shared = Sharing()
    one = shared(plan)
    assert one == plan
    assert shared(plan) is one
    assert len(list(operators(one))) == len(set(walk(plan)))


def _doubled(times: int) -> list[Plan]:
    """A relation, and each time the union of the last with its distinct rows."""
    made: list[Plan] = [read_text("Changes default.t [a: int]")]
    for _ in range(times):
        made.append(Sharing()(UnionAll((made[-1], Distinct(made[-1])))))
    return made


def test_a_part_that_only_a_repeated_subplan_repeats_is_no_step() -> None:
    *_, below, plan = _doubled(5)
    assert [id(step) for step in repeated(plan)] == [id(below)]


def test_changes_alone_are_no_step_however_often_they_are_read() -> None:
    changes = read_text("Changes default.t [a: int]")
    assert repeated(Sharing()(UnionAll((changes,) * 200))) == []


def test_no_step_is_much_larger_written_out() -> None:
    *_, plan = _doubled(40)
    assert len(list(operators(plan))) == 81
    steps = {id(step) for step in repeated(plan)}
    sizes: dict[int, int] = {}
    for node in inputs_first(plan):
        sizes[id(node)] = 1 + sum(1 if id(each) in steps else sizes[id(each)] for each in sources(node))
    assert max(sizes.values()) <= 500
    assert len(steps) <= 10


def test_a_part_that_two_repeated_subplans_need_is_a_step() -> None:
    part = Distinct(read_text("Changes default.t [a: int]"))
    one, other = UnionAll((part, part)), UnionAll((part, Distinct(part)))
    assert repeated(Sharing()(UnionAll((one, one, other, other)))) == [part, one, other]
    assert repeated(Sharing()(UnionAll((part, part)))) == [part]
