"""What a project's files may say of when views run; no Spark is needed to tell."""

from __future__ import annotations

import pytest

from ivm_core import Engine
from ivm_core.errors import DefinitionError

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
