"""A view is compiled once in a process, and again where its text or a view below it is another by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ivm_core import Engine
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import LifeStage, ViewRecord
from ivm_core.errors import SchemaChangedError
from ivm_core.maintain.session import Session
from ivm_core.plan.definition import Policy
from ivm_core.settings import Settings
from tests.bags import difference
from tests.maintain.database import FEED, run

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def record(name: str, query: str, tables: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> ViewRecord:
    sql = f"CREATE MATERIALIZED VIEW {name} AS {query}"
    return ViewRecord(
        f"id-{name}", name, sql, "g", None, Policy.AUTO, "plan", columns, tables, "/nowhere", LifeStage.ACTIVE, NOW
    )


BELOW = record("s.below", "SELECT g, x FROM s.t", ("s.t",), (("g", "int"), ("x", "int")))
ABOVE = record("s.above", "SELECT g, sum(x) AS total FROM s.below GROUP BY g", ("s.below",), (("g", "int"),))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    settings = Settings.load(catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=str(tmp_path / "w"))
    with Catalog.open(settings.catalog) as catalog:
        catalog.add_view(BELOW)
        catalog.add_view(ABOVE)
        yield Session(settings, catalog)


def test_it_is_compiled_once(session: Session) -> None:
    compiled = session.compiled(ABOVE)
    session.follow_columns(ABOVE)
    assert session.compiled(ABOVE) is compiled
    counted = replace(ABOVE, sql=ABOVE.sql.replace("sum(x)", "count(x)"))
    assert session.compiled(counted).fingerprint != compiled.fingerprint


def test_a_view_below_has_a_column_of_another_type(session: Session) -> None:
    before = session.compiled(ABOVE)
    session.catalog.update_view(replace(BELOW, columns=(("g", "int"), ("x", "double"))))
    session.follow_columns(ABOVE)
    after = session.compiled(ABOVE)
    assert after.fingerprint != before.fingerprint
    assert (before.layout.kind, after.layout.kind) == ("merged_groups", "recomputed_groups")


def test_a_view_below_has_lost_a_column(session: Session) -> None:
    session.compiled(ABOVE)
    session.catalog.update_view(replace(BELOW, columns=(("g", "int"),)))
    session.follow_columns(ABOVE)
    with pytest.raises(SchemaChangedError, match="no longer compiles"):
        session.compiled(ABOVE)


def test_a_query_reads_views_as_they_are_registered_now(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    class Told:
        def sql(self, text: str) -> str:
            return text

    looked_at: list[str] = []
    monkeypatch.setattr(Session, "spark_with_names", Told())
    monkeypatch.setattr(Session, "read", lambda _, view: looked_at.append(view.name))
    text = "SELECT * FROM s.above AS a, (SELECT g FROM S.Below) AS b, s.t"
    assert str(session.query(text)).startswith("SELECT * FROM s.above")
    assert looked_at == ["s.above", "s.below"]
    assert session.query("SELECT * FROM delta.`/place`")


@pytest.mark.spark
def test_another_process_replaced_the_view_below(spark, schema: str, tmp_path: Path, monkeypatch) -> None:
    """Sums of its whole numbers were stored; of fractions they would be cut off."""
    monkeypatch.chdir(tmp_path)  # where the manifest is written
    run(spark, f"CREATE TABLE {schema}.t (g INT, x INT) USING DELTA {FEED}")
    run(spark, f"INSERT INTO {schema}.t VALUES (1, 1), (1, 2), (2, 5)")
    folder = tmp_path / "sql" / "views"
    folder.mkdir(parents=True)
    below = f"CREATE MATERIALIZED VIEW {schema}.below AS SELECT g, {{x}} AS x FROM {schema}.t"
    (folder / "below.sql").write_text(below.format(x="x"))
    place = {"spark": spark, "catalog": f"sqlite:///{tmp_path}/ivm.db", "warehouse": tmp_path / "w"}
    with Engine.open(**place) as one, Engine.open(**place) as other:
        one.apply(tmp_path / "sql")
        query = "SELECT g, sum(x) AS total FROM {s}.below GROUP BY g"
        one.create(f"CREATE MATERIALIZED VIEW {schema}.above AS {query.format(s=schema)}")
        (folder / "below.sql").write_text(below.format(x="x / 2.0D"))
        other.apply(tmp_path / "sql")
        with pytest.raises(Exception, match="cannot be compared"):
            one.validate(f"{schema}.above")
        reports = {report.view: report for report in one.maintain()}
        assert reports[f"{schema}.above"].strategy == "full"
        assert not difference(one.read(f"{schema}.above"), spark.sql(query.format(s=schema)))
        assert one.validate(f"{schema}.above").ok
