"""The page on SQL support says what the compiler does, and its examples are maintained."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from random import Random

import duckdb
import pytest
from sqlglot import parse_one

from ivm_core.cost.model import Strategy
from ivm_core.delta.reasons import Code
from ivm_core.errors import DefinitionError
from ivm_core.job.compile import compile_view
from ivm_core.maintain.explain import operator_strategies
from ivm_core.plan.dialect import SparkAsWritten
from tests.job.test_meaning_duckdb import check_view
from tests.support.constructs import CONSTRUCTS, REFUSED, TABLES, UPSTREAM, Construct
from tests.support.in_duckdb import IN_DUCKDB, SCHEMAS, connect_examples
from tests.support.page import PAGE, compiled_construct, render, strategy_and_detail
from tests.tpc.benchmark import KINDS, is_installed

LINEAR = {Code.ROW_BY_ROW, Code.JOIN_TERMS, Code.MERGED_GROUPS, Code.LEFT_JOIN_MATCHES, Code.SPARE_ROWS, Code.WHEN_READ}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect_examples() as opened:
        yield opened


def named(constructs: tuple[Construct, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("construct", constructs, ids=lambda construct: construct.name)


@named(CONSTRUCTS)
def test_an_example_has_the_strategy_on_the_page(construct: Construct) -> None:
    assert strategy_and_detail(construct)[0] is construct.strategy


@named(IN_DUCKDB)
def test_an_example_is_maintained(connection: duckdb.DuckDBPyConnection, construct: Construct) -> None:
    view, random = compiled_construct(construct), Random(zlib.crc32(construct.sql.encode()))
    try:
        check_view(connection, view, SCHEMAS, random, construct.sql)
    except pytest.skip.Exception as skipped:
        pytest.fail(str(skipped))


@named(CONSTRUCTS)
def test_each_operator_of_an_example_is_explained(construct: Construct) -> None:
    found = operator_strategies(compiled_construct(construct))
    assert all(each.operator and each.strategy and each.note for each in found)
    codes = {each.reason for each in found}
    assert (codes <= LINEAR) == (construct.strategy == "incremental")
    assert (Code.NO_RULE in codes) == (construct.strategy == "full")
    assert all(bool(each.advice) == (each.reason not in LINEAR) for each in found)


def test_rows_that_cannot_be_found_again_are_explained() -> None:
    joined = "select q.t, u.k from (select k, cast(sum(f) as string) || '!' as t from o group by k) q join u on q.k = u.k where q.t <> ''"
    made_of_sums = Construct("", Strategy.FULL, joined)
    assert strategy_and_detail(made_of_sums)[0] is Strategy.FULL
    found = [each for each in operator_strategies(compiled_construct(made_of_sums)) if each.strategy == "full"]
    assert [(each.operator, each.reason) for each in found] == [("the view's rows", Code.FLOATING_SUM)]
    assert found[0].advice


@pytest.mark.parametrize(("sql", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_not_kept_is_refused_by_name(sql: str, said: str) -> None:
    with pytest.raises(DefinitionError) as refusal:
        compile_view("shop.v", parse_one(sql, read=SparkAsWritten), TABLES, "shop")
    assert said in str(refusal.value)


@pytest.mark.parametrize(("name", "sql"), UPSTREAM.items(), ids=list(UPSTREAM))
def test_views_below_have_the_columns_that_the_page_says(name: str, sql: str) -> None:
    view = compile_view(name, parse_one(sql, read=SparkAsWritten), TABLES, "shop")
    assert view.columns == tuple(column for column, _ in TABLES[name].columns)


@pytest.mark.skipif(not all(map(is_installed, KINDS)), reason="no packages duckdb-extension-tpch and -tpcds")
def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tests.support.page"
