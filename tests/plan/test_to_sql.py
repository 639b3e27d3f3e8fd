"""Generated SQL as text: one SELECT where possible, nested where needed, stable names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from sqlglot import exp, parse_one

from ivm_core.plan.nodes import At, Changes, Plan, Scan, ScanColumn, UnionAll
from ivm_core.plan.read_text import read_text
from ivm_core.plan.to_sql import input_name, to_ast, to_sql
from ivm_core.plan.to_sql_names import is_plain, quote_where_needed, unused
from tests.plans import plans
from tests.spec import Spec, read_specs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan"
COLUMNS = (ScanColumn("a", "a", "int"),)


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "to_sql.spec"), ids=str)
def test_plan_is_written_as(spec: Spec) -> None:
    assert to_sql(read_text(spec.input)) == spec.expected


@given(plans(ats=tuple(At), with_changes=True))
@settings(deadline=None, max_examples=50)
def test_text_parses_to_the_tree_it_was_written_from(plan: Plan) -> None:
    tree = to_ast(plan)
    text = tree.sql("spark")
    assert parse_one(text, dialect="spark").sql("spark") == text
    assert tuple(tree.named_selects) == plan.names


@pytest.mark.parametrize(
    ("leaf", "name"),
    [
        (Scan("default.t", COLUMNS), "default.t"),
        (Scan("default.t", COLUMNS, At.BEFORE), "t_before"),
        (Scan("sales.t", COLUMNS, At.AFTER), "sales_t_after"),
        (Changes("sales.t", COLUMNS), "sales_t_changes"),
    ],
)
def test_inputs_are_called(leaf: Scan | Changes, name: str) -> None:
    assert input_name(leaf) == name


def test_other_names_for_inputs() -> None:
    assert to_sql(Scan("default.t", COLUMNS), pretty=False, leaf_name=lambda _: "x.y") == "SELECT a FROM x.y"


def test_two_tables_with_one_name_are_refused() -> None:
    plan = UnionAll((Scan("a.b", COLUMNS, At.AFTER), Scan("default.a_b", COLUMNS, At.AFTER)))
    with pytest.raises(ValueError, match="a_b_after"):
        to_sql(plan)


def test_generated_trees_are_new() -> None:
    plan = read_text("Filter a > 1\n  Scan default.t [a: int]")
    to_ast(plan).find(exp.Column).replace(exp.column("z"))  # type: ignore[union-attr]
    assert "z" not in to_sql(plan)


@pytest.mark.parametrize("name", ["a", "_x1", "o_orderkey", "date", "year", "name", "__ivm_weight"])
def test_plain_names(name: str) -> None:
    assert is_plain(name)


@pytest.mark.parametrize(
    "name", ["", "a b", "1a", "select", "Order", "semi", "current_date", "ü", "a`b", "default", "null"]
)
def test_names_that_need_quotes(name: str) -> None:
    assert not is_plain(name)


def test_quotes_only_where_needed() -> None:
    tree = quote_where_needed(parse_one('SELECT "a"."b c" FROM "d" AS "a"'))
    assert tree.sql() == 'SELECT a."b c" FROM d AS a'


def test_unused_names_are_counted() -> None:
    taken = {"t"}
    assert [unused("T", taken), unused("t", taken), unused("u", taken)] == ["T_2", "t_3", "u"]
