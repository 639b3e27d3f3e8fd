"""What ``check_delta`` refuses, and how operators are classified."""

from __future__ import annotations

import pytest

from ivm_core.delta.differentiate import differentiate
from ivm_core.delta.linearity import Rule, classify, is_linear
from ivm_core.errors import NoRule
from ivm_core.plan.nodes import Aggregate, Distinct, Plan, Scan, ScanColumn, keep
from ivm_core.plan.read_text import read_text
from tests.delta.check_delta import WrongDeltaError, check_delta, has_product

JOIN = """
Join inner on a = b
  Scan default.r [a: int]
  Scan default.s [b: int]
"""
PRODUCT = """
Join inner
  Scan default.r [a: int]
  Scan default.s [b: int]
"""
DELTAS = {
    "columns": "Scan default.r after [a: int]",
    "neither before nor after": """
Project a, b, __ivm_weight
  Join inner on a = b
    Scan default.r [a: int]
    Changes default.s [b: int]
""",
    "cartesian": """
Project a, b, __ivm_weight
  Join inner
    Scan default.r after [a: int]
    Changes default.s [b: int]
""",
    "more terms": """
UnionAll
  Join inner on a = b
    Scan default.r after [a: int]
    Changes default.s [b: int]
  Join inner on a = b
    Scan default.r before [a: int]
    Changes default.s [b: int]
""",
}


@pytest.mark.parametrize("problem", DELTAS)
def test_wrong_deltas_are_refused(problem: str) -> None:
    with pytest.raises(WrongDeltaError, match=problem):
        check_delta(read_text(DELTAS[problem].strip()), read_text(JOIN.strip()))


def test_right_delta_passes() -> None:
    query = read_text(JOIN.strip())
    check_delta(differentiate(query, frozenset({"default.r", "default.s"})), query)


def test_product_of_the_query_is_allowed() -> None:
    query = read_text(PRODUCT.strip())
    assert has_product(query) and not has_product(read_text(JOIN.strip()))
    check_delta(differentiate(query, frozenset({"default.r"})), query)


CLASSES = [
    (JOIN, Rule.TERMS, "inner join on a = b"),
    ("Distinct\n  Scan default.r [a: int]", Rule.AFFECTED_KEYS, "distinct"),
    ("Aggregate keys=[] aggregates=[n = COUNT(*)]\n  Scan default.r [a: int]", Rule.WHOLE, "COUNT(*)"),
    ("Aggregate keys=[k = a] aggregates=[]\n  Scan default.r [a: int]", Rule.AFFECTED_KEYS, "distinct by a"),
    ("Filter a > 1\n  Scan default.r [a: int]", Rule.LINEAR, "filter a > 1"),
    (JOIN.replace("inner", "anti"), Rule.AFFECTED_KEYS, "anti join on a = b"),
    (PRODUCT.replace("inner", "semi"), Rule.WHOLE, "semi join"),
    ("Window s = SUM(a) OVER ()\n  Scan default.r [a: int]", Rule.WHOLE, "SUM(a) OVER ()"),
]


@pytest.mark.parametrize(("text", "rule", "operator"), CLASSES, ids=[operator for _, _, operator in CLASSES])
def test_operators_are_classified(text: str, rule: Rule, operator: str) -> None:
    plan = read_text(text.strip())
    (found,) = classify(plan)
    assert (found.rule, found.operator) == (rule, operator)
    assert is_linear(plan) is (rule in (Rule.LINEAR, Rule.TERMS))


@pytest.mark.parametrize("type_", ["map<string,int>", "array<variant>"])
def test_keys_must_be_comparable(type_: str) -> None:
    scan = Scan("default.r", (ScanColumn("m", "m", type_),))
    plans: list[Plan] = [Distinct(scan), Aggregate(scan, keep(("m",)), ())]
    for plan in plans:
        with pytest.raises(NoRule, match="cannot be a key"):
            differentiate(plan, frozenset({"default.r"}))
