"""Projects whose files change what other files, or views without files, read: nothing is left half changed."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import DefinitionError, UnknownColumnError
from ivm_core.maintain import project as project_of
from tests.maintain.database import FEED, run

pytestmark = pytest.mark.spark


@pytest.fixture
def project(spark, schema, tmp_path, monkeypatch):
    """Write the views' files, in place of those before, and apply them as a process of its own."""
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    run(
        spark,
        f"CREATE TABLE {schema}.t (id int, g string) USING DELTA {FEED}",
        f"INSERT INTO {schema}.t VALUES (1, 'a')",
    )
    views = tmp_path / "sql" / "views"
    views.mkdir(parents=True)

    def written(**queries: str) -> Engine:
        for file in views.glob("*.sql"):
            file.unlink()
        for name, query in queries.items():
            text = f"CREATE INCREMENTAL MATERIALIZED VIEW {schema}.{name} AS {query.replace('{s}', schema)}\n"
            (views / f"{name}.sql").write_text(text)
        opened.append(Engine.open(spark=spark, catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path / "w"))
        return opened[-1]

    opened: list[Engine] = []
    yield written
    for engine in opened:
        engine.close()


def test_a_file_that_was_forgotten_is_found_before_anything_changes(project, schema):
    sums = "SELECT g, count(*) AS n FROM {s}.t GROUP BY g"
    project(v=sums, w="SELECT n FROM {s}.v", z="SELECT id FROM {s}.t").apply("sql")
    renamed = sums.replace("AS n", "AS total")
    engine = project(v=renamed, w="SELECT n FROM {s}.v", z="SELECT id FROM {s}.t")
    with pytest.raises(UnknownColumnError, match=r"w\.sql: There is no column 'n'"):
        engine.apply("sql")
    assert [name for name, _ in engine.catalog.view(f"{schema}.v").columns] == ["g", "n"]
    engine = project(v=renamed, w="SELECT total AS n FROM {s}.v", z="SELECT id FROM {s}.t")
    assert {change.name: change.action for change in engine.apply("sql")} == {
        f"{schema}.v": "replace",
        f"{schema}.w": "replace",
        f"{schema}.z": "unchanged",
    }
    assert engine.read(f"{schema}.w").collect() == [(1,)]


def test_a_circle_through_a_view_without_a_file_is_refused(project, schema):
    project(v="SELECT id FROM {s}.t", w="SELECT id FROM {s}.v").apply("sql")
    engine = project(v="SELECT id FROM {s}.w")
    for work in (engine.plan, engine.apply):
        with pytest.raises(DefinitionError, match=rf"circle: .*{schema}\.w \(without a file\)"):
            work("sql")
    assert [report.error for report in engine.maintain()] == [None, None]


def test_a_part_that_another_file_reads_is_kept(project, schema):
    query = "WITH c AS MATERIALIZED (SELECT g, count(*) AS n FROM {s}.t GROUP BY g) SELECT g, n FROM c"
    project(v=query).apply("sql")
    project(v=query, x="SELECT g FROM {s}.v__c").apply("sql")
    engine = project(v=query.replace(" MATERIALIZED", ""), x="SELECT g FROM {s}.v__c")
    for work in (engine.plan, engine.apply, engine.apply):
        part = next(change for change in work("sql") if change.name == f"{schema}.v__c")
        assert (part.action, part.detail) == ("unmanaged", f"{schema}.v keeps it no more, but {schema}.x reads it")
    engine = project(v=query.replace(" MATERIALIZED", ""), x="SELECT g FROM {s}.v")
    assert [change.action for change in engine.apply("sql") if change.name == f"{schema}.v__c"] == ["drop"]
    assert [view.name for view in engine.catalog.views()] == [f"{schema}.v", f"{schema}.x"]


@pytest.mark.parametrize("breaks_at", ["v", "w"])
def test_an_apply_that_was_broken_off_is_made_up_for_by_the_next(project, schema, monkeypatch, breaks_at):
    counted = "SELECT g, count(*) AS n FROM {s}.t WHERE g <> '%s' GROUP BY g HAVING count(*) < %s"
    above = "SELECT count(*) AS n FROM {s}.v"
    project(v=counted % ("b", 3), w=above, z="SELECT id FROM {s}.t").apply("sql")
    changed = {"v": counted % ("a", 2), "w": above, "z": "SELECT id FROM {s}.t"}
    engine, build = project(**changed), project_of.build

    def broken_off(session, view, reason):
        if view.name == f"{schema}.{breaks_at}":
            raise KeyboardInterrupt
        return build(session, view, reason)

    with monkeypatch.context() as patched:
        patched.setattr(project_of, "build", broken_off)
        with pytest.raises(KeyboardInterrupt):
            engine.apply("sql")
    unbuilt = [check.name for check in engine.doctor() if not check.ok and check.name.startswith("view")]
    assert unbuilt == ([f"view {schema}.v"] if breaks_at == "v" else [])
    actions = {"v": "replace" if breaks_at == "v" else "unchanged", "w": "replace", "z": "unchanged"}
    for expected in (actions, dict.fromkeys(actions, "unchanged")):
        engine = project(**changed)
        assert {change.name.split(".")[1]: change.action for change in engine.apply("sql")} == expected
        assert (engine.read(f"{schema}.v").collect(), engine.read(f"{schema}.w").collect()) == ([], [(0,)])
