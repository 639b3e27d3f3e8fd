"""What a project's files may say of when views run; no Spark is needed to tell."""

from __future__ import annotations

import json

import pytest

from ivm_core import Engine
from ivm_core.catalog.catalog import Catalog
from ivm_core.catalog.model import TableRecord
from ivm_core.errors import DefinitionError
from ivm_core.maintain.manifest import write_manifest
from ivm_core.maintain.session import Session
from ivm_core.settings import Settings
from tests.catalog.records import view

VIEW = "CREATE INCREMENTAL MATERIALIZED VIEW s.{name} {clauses} AS SELECT a FROM s.t"


def plan(folder, **clauses):
    (folder / "views").mkdir(exist_ok=True)
    for name, text in clauses.items():
        (folder / "views" / f"{name}.sql").write_text(VIEW.format(name=name, clauses=text), "utf-8")
    with Engine.open(catalog=f"sqlite:///{folder}/ivm.db", warehouse=folder / "w") as engine:
        return [change.name for change in engine.plan(folder)]


def test_a_group_has_one_schedule(tmp_path):
    with pytest.raises(DefinitionError, match=r"b\.sql: s\.b asks for .*@daily.* s\.a \(a\.sql\) for '@hourly'"):
        plan(tmp_path, a="GROUP g SCHEDULE CRON '@hourly'", b="GROUP g SCHEDULE CRON '@daily'")


def test_views_of_a_group_need_not_repeat_its_schedule(tmp_path):
    named = {"a": "GROUP g SCHEDULE CRON '@hourly'", "b": "GROUP g", "c": "GROUP g TRIGGER ON UPDATE"}
    assert plan(tmp_path, **named, d="SCHEDULE CRON '@daily'") == ["s.a", "s.b", "s.c", "s.d"]


def test_a_view_over_views_watches_the_tables_below_those_of_its_group(tmp_path):
    settings = Settings.load(
        catalog=f"sqlite:///{tmp_path}/ivm.db", manifest=tmp_path / "m.json", warehouse=str(tmp_path)
    )
    watching = "TRIGGER ON UPDATE TBLPROPERTIES ('ivm.watch_every' = '30 seconds')"
    made = {"s.v": ("", "s.t"), "s.w": ("", "s.v", "s.u"), "s.x": (watching, "s.w"), "s.other": ("", "s.z")}
    with Catalog.open(settings.catalog) as catalog:
        for table in ("s.t", "s.u"):
            catalog.upsert_table(TableRecord(table, "id", f"/lake/{table}"))
        for name, (clauses, *tables) in {**made, "s.far": ("", "s.far_table"), "s.y": (watching, "s.far")}.items():
            sql = f"CREATE INCREMENTAL MATERIALIZED VIEW {name} {clauses} AS SELECT 1 AS a"
            catalog.add_view(view(name, *tables, sql=sql, group="far" if name == "s.far" else "g"))
        manifest = json.loads(write_manifest(Session(settings, catalog)).read_text("utf-8"))
    watched = {group["name"]: sorted(group["watched"]) for group in manifest["groups"]}
    # Of a view of another group its own runs tell.
    assert watched == {"far": [], "g": ["s.t", "s.u"]}
