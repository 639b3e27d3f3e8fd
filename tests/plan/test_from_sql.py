"""Queries and their normal plans; wrong queries and what they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ivm_core.errors import DefinitionError, UnsupportedConstruct
from ivm_core.plan.definition import parse_definition
from ivm_core.plan.explain import explain
from ivm_core.plan.from_sql import from_sql
from ivm_core.plan.nodes import Scan, walk
from ivm_core.plan.normalize import normalize
from tests.plan.odd_queries import ODD
from tests.plan.queries import CLOCK, QUERIES, SPARK_ONLY, TABLES
from tests.spec import Spec, read_specs

FIXTURES = Path(__file__).parent.parent / "fixtures" / "plan"


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "from_sql.spec"), ids=str)
def test_query_has_this_plan(spec: Spec) -> None:
    assert explain(normalize(from_sql(spec.input, TABLES, "shop"))).rstrip() == spec.expected


@pytest.mark.parametrize("spec", read_specs(FIXTURES / "from_sql_errors.spec"), ids=str)
def test_mistake_is_answered(spec: Spec) -> None:
    with pytest.raises(DefinitionError) as caught:
        from_sql(spec.input, TABLES, "shop")
    assert f"{type(caught.value).__name__}: {caught.value}" == spec.expected


@pytest.mark.parametrize("sql", (*QUERIES, *SPARK_ONLY, *ODD, *CLOCK))
def test_queries_bind_alike_however_they_are_written(sql: str) -> None:
    plan = from_sql(sql, TABLES, "shop")
    view = parse_definition(f"CREATE INCREMENTAL MATERIALIZED VIEW v AS\n{sql}")
    assert from_sql(view.query, TABLES, "shop") == plan
    names = [name.lower() for node in walk(plan) if isinstance(node, Scan) for name in node.names]
    assert all("#" not in name for name in names)


def test_positions_are_those_of_the_whole_statement() -> None:
    view = parse_definition("CREATE MATERIALIZED VIEW v\nAS SELECT a,\n       zz FROM t")
    with pytest.raises(DefinitionError) as caught:
        from_sql(view.query, TABLES, "shop")
    assert (caught.value.line, caught.value.column) == (3, 8)


def test_a_comma_joins_like_any_other_join() -> None:
    comma = from_sql("SELECT t.a FROM t, u RIGHT JOIN w ON u.k = w.k", TABLES, "shop")
    assert comma == from_sql("SELECT t.a FROM t CROSS JOIN u RIGHT JOIN w ON u.k = w.k", TABLES, "shop")


def test_binding_leaves_the_query_as_it_was() -> None:
    view = parse_definition(
        "CREATE MATERIALIZED VIEW v AS SELECT a, sum(c) s FROM t WHERE b IN (SELECT k FROM u) GROUP BY 1"
    )
    before = view.query.copy()
    from_sql(view.query, TABLES, "shop")
    assert view.query == before


@pytest.mark.parametrize(
    "sql",
    [
        "select t.a from t where exists (select k from u where u.a = t.a group by rollup (k))",
        "select a from t where a = any (select 1) or b > 1",
    ],
)
def test_what_no_plan_can_say_is_refused_by_name(sql: str) -> None:
    with pytest.raises(UnsupportedConstruct) as caught:
        from_sql(sql, TABLES, "shop")
    assert caught.value.line == 1
