"""Views whose MATERIALIZED CTEs are kept as views of their own: created, moved and dropped with them, never apart from them."""

from __future__ import annotations

import json

import pytest

from ivm_core.errors import Busy, DefinitionError, ViewExistsError
from ivm_core.maintain.manifest import write_manifest
from ivm_core.maintain.view import maintain_view
from tests.bags import difference
from tests.maintain.test_identities import FIRST, SECOND, Deployment
from tests.maintain.test_rewind import instant
from tests.maintain.test_views_over_views import THIRD

pytestmark = pytest.mark.spark

QUERIES = {
    "best": "WITH totals AS MATERIALIZED (SELECT g, sum(v) AS total FROM {s}.f GROUP BY g) "
    "SELECT f.id, t.g, t.total FROM totals t JOIN {s}.f f ON f.g = t.g WHERE t.total = (SELECT max(total) FROM totals)",
    "spread": "WITH keyed AS (SELECT k, v FROM {s}.f WHERE v IS NOT NULL), "
    "counts(k, n) AS MATERIALIZED (SELECT d.k, count(f.v) FROM {s}.d d LEFT JOIN keyed f ON d.k = f.k GROUP BY d.k), "
    "sizes AS MATERIALIZED (SELECT n, count(*) AS ks FROM counts GROUP BY n) "
    "SELECT s.n, s.ks, c.k, f.v FROM sizes s JOIN counts c ON c.n = s.n LEFT JOIN {s}.f f ON f.k = c.k",
}


def whole(query: str) -> str:
    return query.replace(" AS MATERIALIZED", " AS")


class Divided(Deployment):
    def check(self) -> None:
        for name, query in self.queries.items():
            assert not difference(self.engine.read(f"{self.schema}.{name}"), self.spark.sql(whole(query))), name


def names(engine) -> set[str]:
    return {view.name.partition(".")[2] for view in engine.catalog.views()}


def test_views_follow_their_tables_with_their_parts(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "parts", QUERIES)
    engine = deployment.engine
    assert names(engine) == {"best", "best__totals", "spread", "spread__counts", "spread__sizes"}
    deployment.check()
    for changes in (FIRST, SECOND, THIRD):
        deployment.run(*changes)
        reports = engine.maintain(run_id=changes[0])
        assert {str(report.strategy) for report in reports} <= {"incremental", "affected", "noop"}
        deployment.check()
        assert all(engine.validate(view.name).ok for view in engine.catalog.views())
        # Though one part reads another, which went on meanwhile.
        assert engine.catalog.latest_cut(engine.catalog.view("parts.spread").group).run_id == changes[0]
    assert not deployment.changed()
    found = engine.explain("parts.spread")
    assert found.kept == ("parts.spread__counts", "parts.spread__sizes")
    assert "parts.spread__sizes\n" in str(found)


def test_reading_changes_counts_to_the_view_where_no_other_reads_them(spark, tmp_path):
    """Else `auto` would never learn that a view with parts spends most of its batch on it."""
    alone = "WITH totals AS MATERIALIZED (SELECT k, sum(v) AS total FROM {s}.f GROUP BY k) SELECT total FROM totals"
    deployment = Divided(spark, tmp_path, "counted", {"alone": alone, "other": "SELECT k, v FROM {s}.f WHERE v > 1"})
    deployment.run(*FIRST)
    assert not any(report.shared_seconds for report in deployment.engine.maintain(["counted.alone"]))
    deployment.run(*SECOND)
    shared = {report.view: report.shared_seconds > 0 for report in deployment.engine.maintain()}
    # Whichever of the two begins reads what both need; what is made of them is read by one.
    assert shared["counted.other"] or shared["counted.alone__totals"]
    assert not shared["counted.alone"]


def test_a_statement_is_explained_without_its_parts_being_there(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "told", {})
    found = deployment.engine.explain(f"CREATE MATERIALIZED VIEW told.v AS {QUERIES['best'].replace('{s}', 'told')}")
    assert found.kept == ("told.v__totals",)
    assert "told.v__totals" in found.plan
    assert not names(deployment.engine)


@pytest.mark.slow
def test_a_view_follows_a_part_that_it_does_not_read(spark, tmp_path):
    """It stands where its parts stand, so it is maintained after all of them."""
    unread = "WITH z AS MATERIALIZED (SELECT DISTINCT g FROM {s}.f) SELECT id, v FROM {s}.f"
    deployment = Divided(spark, tmp_path, "unread", {"a": unread})
    for changes in (FIRST, SECOND):
        deployment.run(*changes)
        assert [report.view for report in deployment.engine.maintain()] == ["unread.a__z", "unread.a"]
        deployment.check()


def test_a_view_fails_with_a_part_that_it_does_not_read(spark, tmp_path):
    """It cannot stand where its parts do not, and nothing else would say so."""
    unread = "WITH z AS MATERIALIZED (SELECT id, 100 DIV v AS share FROM {s}.f) SELECT id, v FROM {s}.f"
    deployment = Divided(spark, tmp_path, "unread_fail", {"a": unread})
    manifest = json.loads(write_manifest(deployment.engine._session).read_text())
    depends = {view["name"]: view["depends_on"] for group in manifest["groups"] for view in group["views"]}
    assert depends == {"unread_fail.a": ["unread_fail.a__z"], "unread_fail.a__z": []}
    deployment.run("INSERT INTO {s}.f VALUES (20, 1, 'z', 0)")
    reports = deployment.engine.maintain(raise_errors=False)
    assert [report.error_code for report in reports] == ["ERROR", "UPSTREAM_FAILED"]
    deployment.run("DELETE FROM {s}.f WHERE id = 20")
    deployment.engine.maintain()
    deployment.check()


def test_a_named_view_takes_its_parts_along(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "along", QUERIES)
    deployment.run(*FIRST)
    reports = deployment.engine.maintain(["along.spread"])
    assert [report.view for report in reports] == ["along.spread__counts", "along.spread__sizes", "along.spread"]
    deployment.engine.refresh("along.best")
    deployment.check()


@pytest.mark.slow
def test_a_refresh_finds_a_table_that_only_a_part_reads(spark, tmp_path):
    query = "WITH totals AS MATERIALIZED (SELECT g, sum(v) AS total FROM {s}.f GROUP BY g) SELECT max(total) AS most FROM totals"
    deployment = Divided(spark, tmp_path, "moved", {"most": query})
    deployment.run(
        f"CREATE TABLE {{s}}.copy USING DELTA LOCATION '{tmp_path}/elsewhere' AS SELECT * FROM {{s}}.f WHERE id % 2 = 0",
        "DROP TABLE {s}.f",
        f"CREATE TABLE {{s}}.f USING DELTA LOCATION '{tmp_path}/elsewhere'",
    )
    deployment.engine.refresh("moved.most")
    deployment.check()


def test_a_part_that_is_ahead_takes_its_view_along(spark, tmp_path):
    """As after a run that ended between them, which is tried again with the versions that it had fixed."""
    deployment = Divided(spark, tmp_path, "ahead", QUERIES)
    engine = deployment.engine
    deployment.run(*FIRST)
    fixed = engine.cut()
    deployment.run(*SECOND)
    engine.maintain(["ahead.spread__counts", "ahead.best__totals"])
    session = engine._session
    # Between its parts' turns a view finds them apart, and stays where it stands.
    before = engine.history("ahead.spread", 1)[0].number
    with pytest.raises(Busy, match="different versions"):
        maintain_view(session, session.catalog.view("ahead.spread"), fixed)
    assert engine.history("ahead.spread", 1)[0].number == before
    assert "ahead.spread" in engine.pending(fixed)
    engine.maintain(cut=fixed)
    deployment.check()


def test_views_go_back_with_their_parts(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "back", QUERIES)
    engine, moments, shown = deployment.engine, [], []
    for changes in ((), FIRST, SECOND, THIRD):
        deployment.run(*changes)
        engine.maintain()
        moments.append(instant())
        shown.append([sorted(map(str, engine.read(f"back.{name}").collect())) for name in QUERIES])
    for step in (1, 2, 3):
        engine.maintain(mode="rewind", as_of=moments[0], cut=engine.cut(as_of=moments[step]), run_id=f"back to {step}")
        assert [sorted(map(str, engine.read(f"back.{name}").collect())) for name in QUERIES] == shown[step], step
    deployment.check()


def test_what_is_wrong_creates_no_parts(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "wrong", {})
    engine = deployment.engine
    statement = "CREATE INCREMENTAL MATERIALIZED VIEW wrong.v AS WITH a AS MATERIALIZED (SELECT g, v FROM wrong.f) SELECT {} FROM a"
    with pytest.raises(DefinitionError):
        engine.create(statement.format("nosuch"))
    with pytest.raises(DefinitionError, match="time"):
        engine.create(statement.format("g").replace("SELECT g, v", "SELECT g, current_date() AS v"))
    assert not names(engine)
    engine.create(statement.format("g"))
    with pytest.raises(ViewExistsError, match=r"wrong\.v"):
        engine.drop("wrong.v__a")
    engine.drop("wrong.v")
    assert not names(engine)
    engine.create(statement.format("g").replace("FROM a", "FROM wrong.f"))
    assert names(engine) == {"v", "v__a"}  # though the view does not read it
    engine.drop("wrong.v")
    assert not names(engine)


def test_a_project_keeps_parts_in_step(spark, tmp_path):
    deployment = Divided(spark, tmp_path, "project", {})
    engine, file = deployment.engine, tmp_path / "views" / "v.sql"
    file.parent.mkdir()
    query = (
        "WITH a AS MATERIALIZED (SELECT g, sum(v) AS t FROM {s}.f GROUP BY g) SELECT count(*) AS n, max(t) AS m FROM a"
    )
    more = (
        query.replace("GROUP BY g)", "WHERE v > 5 GROUP BY g), b AS MATERIALIZED (SELECT max(v) AS t FROM {s}.f)")
        + ", b"
    )
    less = more.replace("AS MATERIALIZED (SELECT g", "AS (SELECT g").replace("max(t)", "max(a.t)")
    steps = (
        (query, {"project.v__a": "create", "project.v": "create"}),
        (query, {"project.v__a": "unchanged", "project.v": "unchanged"}),
        (
            more.replace("max(t)", "max(a.t)"),
            {"project.v__a": "replace", "project.v__b": "create", "project.v": "replace"},
        ),
        (less, {"project.v__b": "unchanged", "project.v": "replace", "project.v__a": "drop"}),
    )
    for text, actions in steps:
        file.write_text(f"CREATE INCREMENTAL MATERIALIZED VIEW project.v AS {text.replace('{s}', 'project')}")
        found = {change.name: change.action for change in engine.apply(tmp_path) if change.kind == "view"}
        assert found == actions
        deployment.queries = {"v": text.replace("{s}", "project")}
        deployment.check()
        deployment.run("INSERT INTO {s}.f VALUES (20, 1, 'a', 7), (21, 1, 'q', 3)")
        engine.maintain()
        deployment.check()
    assert names(engine) == {"v", "v__b"}
