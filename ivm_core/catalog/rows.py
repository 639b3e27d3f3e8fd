"""Records to rows and back: a column is named as its field, so little more than enums and batches is converted."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping

from ivm_core.batch.model import Batch, CommitClass, Cut, TableRange, TableVersion
from ivm_core.catalog.model import (
    BatchRecord,
    CutRecord,
    Intent,
    IntentState,
    LifeStage,
    TableRecord,
    ValidationRecord,
    ViewRecord,
)
from ivm_core.cost.model import Reason, Strategy
from ivm_core.plan.definition import Policy


def row_of(record: TableRecord | ViewRecord) -> dict[str, Any]:
    """The record's values by column."""
    return asdict(record)


def row_of_intent(intent: Intent) -> dict[str, Any]:
    row = asdict(intent)
    row.pop("view")
    return row


def row_of_run(record: BatchRecord | ValidationRecord, view_id: str) -> dict[str, Any]:
    row: dict[str, Any] = {**asdict(record), "view_id": view_id}
    row.pop("view")
    if isinstance(record, BatchRecord):
        row["succeeded"] = record.succeeded
    return row


def to_table(row: RowMapping) -> TableRecord:
    return TableRecord(**row)


def to_view(row: RowMapping) -> ViewRecord:
    return ViewRecord(**{**row, "policy": Policy(row["policy"]), "status": LifeStage(row["status"])})


def to_intent(row: RowMapping, view: str) -> Intent:
    values = {
        **row,
        "batch": _to_batch(row["batch"]),
        "strategy": Strategy(row["strategy"]),
        "reason": Reason(row["reason"]),
        "state": IntentState(row["state"]),
    }
    return Intent(view=view, **values)


def _to_batch(raw: dict[str, Any]) -> Batch:
    ranges = tuple(TableRange(**{**item, "kind": CommitClass(item["kind"])}) for item in raw["ranges"])
    return Batch(**{**raw, "ranges": ranges})


def to_batch_record(row: RowMapping, view: str) -> BatchRecord:
    values = {key: value for key, value in row.items() if key not in ("id", "view_id", "succeeded")}
    values |= {"strategy": Strategy(row["strategy"]), "reason": Reason(row["reason"])}
    return BatchRecord(view=view, **values)


def to_validation(row: RowMapping, view: str) -> ValidationRecord:
    values = {key: value for key, value in row.items() if key not in ("id", "view_id")}
    return ValidationRecord(view=view, **values)


def to_cut(row: RowMapping) -> CutRecord:
    return CutRecord(
        group=row["group"],
        run_id=row["run_id"],
        cut=Cut(_to_versions(row["versions"]), row["as_of"]),
        created_at=row["created_at"],
        states=_to_versions(row["states"]),
        published_at=row["published_at"],
    )


def row_of_cut(group: str, run_id: str, cut: Cut, created_at: datetime) -> dict[str, Any]:
    return {
        "group": group,
        "run_id": run_id,
        "as_of": cut.as_of,
        "versions": [asdict(version) for version in cut.versions],
        "created_at": created_at,
        "states": [],
        "published_at": None,
    }


def _to_versions(raw: tuple[dict[str, Any], ...]) -> tuple[TableVersion, ...]:
    return tuple(TableVersion(**item) for item in raw)
