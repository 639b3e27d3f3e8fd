"""Which groups a run publishes its cut for; what each then shows needs Spark (test_changed_plans.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ivm_core import Engine
from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.model import Cut
from ivm_core.cost.model import Reason, Strategy
from ivm_core.maintain import group
from tests.catalog.records import view


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The groups that a run publishes, of views that all have nothing to do."""
    found: list[str] = []
    monkeypatch.setattr(group, "publish", lambda session, name, *_: found.append(name))
    monkeypatch.setattr(
        group, "maintain_view", lambda _, view, *__: MaintenanceReport(view.name, Strategy.NOOP, Reason.NO_CHANGES)
    )
    for name in ("keep_up", "columns_read", "expected_reads"):
        monkeypatch.setattr(group, name, lambda *_: {})
    return found


def test_a_run_publishes_its_cut_for_every_group_that_it_maintains(tmp_path: Path, published: list[str]) -> None:
    with Engine.open(catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path) as engine:
        session: Any = engine._session
        for name, of in (("s.a", "hourly"), ("s.b", "weekly"), ("s.c", "hourly")):
            session.catalog.add_view(view(name, group=of))
        group.maintain_views(session, session.catalog.views(), Cut(()), run_id="all")
        assert published == ["hourly", "weekly"]
        assert all(session.catalog.cut("all", name) is not None for name in published)


def test_a_run_of_nothing_publishes_nothing(tmp_path: Path, published: list[str]) -> None:
    with Engine.open(catalog=f"sqlite:///{tmp_path}/ivm.db", warehouse=tmp_path) as engine:
        group.maintain_views(engine._session, (), Cut(()), run_id="none")
        assert published == [] and engine.catalog.cut("none") is None
