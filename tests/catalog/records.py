"""Records to put into a catalogue."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ivm_core.batch.model import Batch, CommitClass, TableRange
from ivm_core.catalog.model import BatchRecord, LifeStage, ViewRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.plan.definition import Policy

NOW = datetime(2026, 3, 29, 1, 59, 59, 123456, UTC)


def view(name: str, *tables: str, **changes: Any) -> ViewRecord:
    record = ViewRecord(
        view_id=str(uuid.uuid4()),
        name=name,
        sql=f"CREATE INCREMENTAL MATERIALIZED VIEW {name} AS SELECT 'Δ' AS \"Größe\"",
        group="hourly",
        schedule="0 * * * *",
        policy=Policy.INCREMENTAL_STRICT,
        fingerprint="f1",
        columns=(("Größe", "string"), ("n", "decimal(15,2)")),
        tables=tables,
        location=f"/warehouse/{name}",
        status=LifeStage.ACTIVE,
        created_at=NOW,
        properties=(("ivm.on_drift", "fail"),),
    )
    return replace(record, **changes)


def batch(name: str, number: int, to: int = 1) -> Batch:
    return Batch(name, number, (TableRange("tpch.orders", "t-1", to - 1, to, CommitClass.MUTATING),), "f1")


def done(name: str, number: int, to: int = 1, **changes: Any) -> BatchRecord:
    record = BatchRecord(
        view=name,
        number=number,
        strategy=Strategy.INCREMENTAL,
        reason=Reason.LINEAR,
        started_at=NOW,
        finished_at=NOW + timedelta(seconds=2),
        from_versions={"tpch.orders": to - 1},
        to_versions={"tpch.orders": to},
        rows_changed=2**40,
        seconds=1.25,
        changed_rows={"tpch.orders": 3},
        state_rows=7,
        run_id="run",
        job='{"version": 1}',
    )
    return replace(record, **changes)
