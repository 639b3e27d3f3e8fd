"""Values of ``ivm_core`` as the small JSON that tasks hand to each other, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ivm_core import Engine
    from ivm_core.apply.model import MaintenanceReport
    from ivm_core.batch.model import Cut
    from ivm_core.catalog.model import BatchRecord
    from ivm_core.validate.model import ValidationReport


def pack_cut(cut: Cut) -> dict[str, Any]:
    """A cut as JSON: the instant and one ``[table, table id, version]`` a base table."""
    return {
        "as_of": cut.as_of.isoformat() if cut.as_of else None,
        "versions": [[item.table, item.table_id, item.version] for item in cut.versions],
    }


def unpack_cut(packed: Mapping[str, Any]) -> Cut:
    """The inverse of ``pack_cut``."""
    from ivm_core.batch.model import Cut, TableVersion

    as_of = packed["as_of"]
    return Cut(
        tuple(TableVersion(table, table_id, version) for table, table_id, version in packed["versions"]),
        datetime.fromisoformat(as_of) if as_of else None,
    )


def pack_report(report: MaintenanceReport) -> dict[str, Any]:
    """What the run's report says about a view's batch."""
    return {
        "view": report.view,
        "strategy": str(report.strategy),
        "reason": str(report.reason),
        "detail": report.detail,
        "from_versions": dict(report.from_versions),
        "to_versions": dict(report.to_versions),
        "rows_changed": report.rows_changed,
        "seconds": round(report.seconds, 3),
        "shared_seconds": round(report.shared_seconds, 3),
        "batch": report.batch,
        "error": report.error,
        "error_code": report.error_code,
    }


def pack_batch(batch: BatchRecord) -> dict[str, Any]:
    """The same of a batch that the catalogue remembers."""
    return {
        "view": batch.view,
        "strategy": str(batch.strategy),
        "reason": str(batch.reason),
        "detail": batch.detail,
        "from_versions": dict(batch.from_versions),
        "to_versions": dict(batch.to_versions),
        "rows_changed": batch.rows_changed,
        "seconds": round(batch.seconds, 3),
        "shared_seconds": 0.0,
        "batch": batch.number,
        "error": None,
        "error_code": None,
    }


def pack_check(check: ValidationReport, tolerated: bool, repair: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The counts and times of a validation, without its rows; ``tolerated``: a difference is shown, not a failure.

    ``repair``: it differed, was mended by this batch, as ``pack_report`` tells of it, and checked again.
    """
    return {
        "view": check.view,
        "ok": check.ok,
        "tolerated": tolerated,
        "repaired": repair is not None,
        "repair": "" if repair is None else "{strategy}, {rows_changed} rows. {detail}".format(**repair).strip(),
        "missing_count": check.missing_count,
        "unexpected_count": check.unexpected_count,
        "rows": check.rows,
        "coverage": check.coverage,
        "versions": dict(check.versions),
        "seconds": round(check.seconds, 3),
        "full_seconds": None if check.full_seconds is None else round(check.full_seconds, 3),
    }


def with_earlier_tries(engine: Engine, reports: list[dict[str, Any]], run_id: str) -> list[dict[str, Any]]:
    """The reports, with the batches that an earlier try of the same run made where this one found nothing left to do."""
    joined = []
    for report in reports:
        left = not report["error"] and report["strategy"] == "noop"
        done = next(_batches_of(engine, report["view"], run_id), None) if left else None
        joined.append(pack_batch(done) if done is not None and done.strategy != "noop" else report)
    return joined


def earlier_repairs(engine: Engine, views: Iterable[str], run_id: str) -> dict[str, dict[str, Any]]:
    """The repairs of views that an earlier try of the same run made, as ``pack_report`` tells of them."""
    repairs = {
        view: next((batch for batch in _batches_of(engine, view, run_id) if batch.reason == "repaired"), None)
        for view in sorted(views)
    }
    return {view: pack_batch(batch) for view, batch in repairs.items() if batch is not None}


def _batches_of(engine: Engine, view: str, run_id: str) -> Iterator[BatchRecord]:
    """The view's batches that a run committed, the newest first."""
    return (batch for batch in engine.history(view, 10) if batch.run_id == run_id and batch.succeeded and batch.number)
