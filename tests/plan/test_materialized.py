"""Queries with MATERIALIZED CTEs, taken apart: what is kept by itself, what reads it, and what is the same query whole."""

from __future__ import annotations

import pytest

from ivm_core.errors import DefinitionError
from ivm_core.plan.definition import parse_definition


def defined(query: str, head: str = ""):
    return parse_definition(f"CREATE INCREMENTAL MATERIALIZED VIEW s.v {head} AS {query}")


def sql(query) -> str:
    return query.sql(dialect="spark").replace("`", "")


# query, what is left of it, and each auxiliary's own query
DIVIDED = {
    "one": (
        "WITH a AS MATERIALIZED (SELECT k, sum(x) AS t FROM r GROUP BY k) SELECT * FROM a WHERE t > 5",
        "SELECT * FROM s.v__a AS a WHERE t > 5",
        {"s.v__a": "SELECT k, SUM(x) AS t FROM r GROUP BY k"},
    ),
    "called otherwise": (
        "WITH A AS MATERIALIZED (SELECT k FROM r) SELECT x.k, a.k FROM a JOIN a AS x ON a.k = x.k",
        "SELECT x.k, a.k FROM s.v__a AS a JOIN s.v__a AS x ON a.k = x.k",
        {"s.v__a": "SELECT k FROM r"},
    ),
    "with names of columns": (
        "WITH a(p, q) AS MATERIALIZED (SELECT k, count(*) FROM r GROUP BY k) SELECT p FROM a AS b(m, n) WHERE n > 1",
        "SELECT p FROM s.v__a AS b(m, n) WHERE n > 1",
        {"s.v__a": "WITH a(p, q) AS (SELECT k, COUNT(*) FROM r GROUP BY k) SELECT * FROM a"},
    ),
    "over others": (
        "WITH base AS (SELECT * FROM r), other AS (SELECT * FROM u), a AS MATERIALIZED (SELECT k FROM base), "
        "b AS MATERIALIZED (SELECT k FROM a) SELECT * FROM b JOIN other USING (k)",
        "WITH base AS (SELECT * FROM r), other AS (SELECT * FROM u) SELECT * FROM s.v__b AS b JOIN other USING (k)",
        {"s.v__a": "WITH base AS (SELECT * FROM r) SELECT k FROM base", "s.v__b": "SELECT k FROM s.v__a AS a"},
    ),
    "over one that reads it": (
        "WITH a AS MATERIALIZED (SELECT k FROM r), c AS (SELECT k FROM a), b AS MATERIALIZED (SELECT k FROM c) SELECT * FROM b CROSS JOIN c",
        "WITH c AS (SELECT k FROM s.v__a AS a) SELECT * FROM s.v__b AS b CROSS JOIN c",
        {"s.v__a": "SELECT k FROM r", "s.v__b": "WITH c AS (SELECT k FROM s.v__a AS a) SELECT k FROM c"},
    ),
    "in a union and subqueries": (
        "WITH a AS MATERIALIZED (SELECT k FROM r) SELECT k FROM a UNION ALL SELECT k FROM r WHERE k IN (SELECT k FROM a)",
        "SELECT k FROM s.v__a AS a UNION ALL SELECT k FROM r WHERE k IN (SELECT k FROM s.v__a AS a)",
        {"s.v__a": "SELECT k FROM r"},
    ),
    "another of the name further in": (
        "WITH a AS MATERIALIZED (SELECT k FROM r) SELECT k, (WITH a AS (SELECT 1 AS k) SELECT max(k) FROM a) AS m FROM a",
        "WITH a AS (SELECT 1 AS k) SELECT k, (SELECT MAX(k) FROM a) AS m FROM s.v__a AS a",
        {"s.v__a": "SELECT k FROM r"},
    ),
    "a table of the name": (
        "WITH r AS MATERIALIZED (SELECT k FROM r) SELECT r.k FROM r JOIN s.r AS t USING (k)",
        "SELECT r.k FROM s.v__r AS r JOIN s.r AS t USING (k)",
        {"s.v__r": "SELECT k FROM r"},
    ),
    "not materialized": (
        "WITH a AS NOT MATERIALIZED (SELECT k FROM r) SELECT k FROM a",
        "WITH a AS (SELECT k FROM r) SELECT k FROM a",
        {},
    ),
}


@pytest.mark.parametrize(("query", "rest", "parts"), DIVIDED.values(), ids=list(DIVIDED))
def test_marked_ctes_are_taken_out(query: str, rest: str, parts: dict[str, str]) -> None:
    found = defined(query)
    assert sql(found.query) == rest
    assert {view.name: sql(view.query) for view in found.auxiliaries} == parts
    assert "MATERIALIZED" not in sql(found.whole)
    assert sql(found.whole) == sql(defined(query.replace(" NOT MATERIALIZED", "").replace(" MATERIALIZED", "")).query)


REFUSED = {
    "further in": "SELECT * FROM (WITH a AS MATERIALIZED (SELECT 1 AS k) SELECT * FROM a)",
    "recursive": "WITH RECURSIVE a(n) AS MATERIALIZED (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 5) SELECT * FROM a",
}


@pytest.mark.parametrize("query", REFUSED.values(), ids=list(REFUSED))
def test_marks_elsewhere_are_refused(query: str) -> None:
    with pytest.raises(DefinitionError, match="MATERIALIZED") as refusal:
        defined(query)
    assert refusal.value.line == 1


def test_an_auxiliary_has_the_settings_of_its_view() -> None:
    head = """COMMENT 'it''s' SCHEDULE CRON '0 2 * * *' TRIGGER ON UPDATE GROUP night
        TBLPROPERTIES ('ivm.on_drift' = 'repair', 'ivm.validate_every' = '7 days', 'owner' = 'O''Neil')"""
    view = defined("WITH a AS MATERIALIZED (SELECT k FROM r) SELECT k FROM a", head)
    (part,) = view.auxiliaries
    assert (part.group, part.schedule, part.on_update) == ("night", "0 2 * * *", True)
    assert (part.on_drift, part.validate_every, part.policy) == (view.on_drift, view.validate_every, view.policy)
    assert (part.auxiliary_of, view.auxiliary_of) == ("s.v", None)
    assert dict(part.properties)["owner"] == "O'Neil"
    assert parse_definition(part.sql) == part


def test_the_text_is_kept_where_spark_reads_it() -> None:
    assert defined("SELECT nvl(a, 0) FROM t;").text == "SELECT nvl(a, 0) FROM t;"
    for word in ("MATERIALIZED", "NOT MATERIALIZED"):
        assert defined(f"WITH a AS {word} (SELECT k FROM r) SELECT k FROM a").text == ""
