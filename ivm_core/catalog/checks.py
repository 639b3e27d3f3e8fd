"""Queries on validations and on the cuts that group runs publish."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy import Connection, select, update

from ivm_core.batch.model import Cut, TableVersion
from ivm_core.catalog import rows, tables
from ivm_core.catalog.model import CutRecord, LifeStage, ValidationRecord
from ivm_core.catalog.views import get_newest_view_id, insert_into
from ivm_core.errors import CatalogError


def add_validation(connection: Connection, record: ValidationRecord) -> None:
    """Keep the outcome, and mark the view as drifted or take the mark away."""
    view_id, views = get_newest_view_id(connection, record.view), tables.views
    connection.execute(tables.validations.insert().values(rows.row_of_run(record, view_id)))
    before, after = (LifeStage.DRIFTED, LifeStage.ACTIVE) if record.ok else (LifeStage.ACTIVE, LifeStage.DRIFTED)
    marked = (views.c.view_id == view_id, views.c.status == before.value)
    connection.execute(update(views).where(*marked).values(status=after.value))


def list_validations(connection: Connection, view: str, limit: int) -> tuple[ValidationRecord, ...]:
    """The newest first."""
    validations = tables.validations
    statement = select(validations).where(validations.c.view_id == get_newest_view_id(connection, view))
    found = connection.execute(statement.order_by(validations.c.id.desc()).limit(limit)).mappings()
    return tuple(rows.to_validation(row, view) for row in found)


def add_cut(connection: Connection, group: str, run_id: str, cut: Cut) -> CutRecord:
    """Fix the cut of a run; see ``Catalog.add_cut``."""
    row = rows.row_of_cut(group, run_id, cut, datetime.now(UTC))
    connection.execute(insert_into(connection, tables.cuts).values(row).on_conflict_do_nothing())
    found = find_cut(connection, run_id, group)
    assert found is not None
    return found


def publish_cut(connection: Connection, group: str, run_id: str, states: Iterable[TableVersion]) -> CutRecord:
    cuts = tables.cuts
    values = {"states": [asdict(state) for state in states], "published_at": datetime.now(UTC)}
    connection.execute(update(cuts).where(cuts.c.group == group, cuts.c.run_id == run_id).values(**values))
    found = find_cut(connection, run_id, group)
    if found is None:
        raise CatalogError(f"Run {run_id} of group {group} has no cut: fix its cut before publishing it.")
    return found


def find_cut(connection: Connection, run_id: str, group: str | None) -> CutRecord | None:
    cuts = tables.cuts
    statement = select(cuts).where(cuts.c.run_id == run_id).order_by(cuts.c.id.desc()).limit(1)
    if group is not None:
        statement = statement.where(cuts.c.group == group)
    row = connection.execute(statement).mappings().first()
    return rows.to_cut(row) if row else None


def find_latest_cut(connection: Connection, group: str) -> CutRecord | None:
    """The cut published last."""
    cuts = tables.cuts
    published = (cuts.c.group == group, cuts.c.published_at.is_not(None))
    newest = (cuts.c.published_at.desc(), cuts.c.id.desc())
    row = connection.execute(select(cuts).where(*published).order_by(*newest).limit(1)).mappings().first()
    return rows.to_cut(row) if row else None
