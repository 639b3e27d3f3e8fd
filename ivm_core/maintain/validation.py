"""Validate one view against its query at the versions it stands at, and keep the result."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from ivm_core.batch.model import Batch
from ivm_core.catalog.model import ValidationRecord, ViewRecord
from ivm_core.cost.model import Reason
from ivm_core.engine.compare import compare
from ivm_core.errors import BaseTableError, UnknownViewError
from ivm_core.job.build import full_job
from ivm_core.maintain.auxiliaries import as_readable
from ivm_core.maintain.decision import is_of_another_zone
from ivm_core.maintain.next_batch import replaced_table
from ivm_core.maintain.places import follow_tables
from ivm_core.maintain.repair import still
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, standing
from ivm_core.plan.definition import SAMPLE, parse_share
from ivm_core.validate.model import ValidationReport


def validate_view(
    session: Session, name: str, measure_full: bool = False, run_id: str | None = None
) -> ValidationReport:
    """Compare the view's rows with its query's, as bags, at pinned versions; store and return the outcome."""
    view, spark = session.catalog.view(name), session.spark  # which may take seconds to open, in which batches commit
    follow_tables(session, view.tables)
    now = standing(session, view)
    if now is None:
        raise UnknownViewError(f"{name} is registered but not built. Run `ivm maintain {name}`.")
    versions = still(as_readable(session, version) for version in now.versions)
    batch = Batch(view.name, now.number, versions, now.fingerprint)
    session.follow_columns(view)
    compiled = session.compiled(view)
    _check_comparable(session, view, now)
    relations = session.relations(view)
    report = compare(
        spark,
        view.name,
        session.relation(view.name),
        now.newest,
        full_job(compiled, Reason.REQUESTED),
        compiled.visible_sql,
        batch,
        relations,
        session.settings,
        measure_full=measure_full,
        approximate=compiled.approximate,
        approximate_in_state=compiled.approximate_in_state,
        share=1.0 if measure_full or compiled.layout.one_group else _share(session, view),
        keys=compiled.layout.keys,
    )
    session.catalog.add_validation(
        ValidationRecord(
            view=view.name,
            batch_number=now.number,
            ok=report.ok,
            missing_count=report.missing_count,
            unexpected_count=report.unexpected_count,
            rows=report.rows,
            versions=report.versions,
            seconds=report.seconds,
            checked_at=datetime.now(UTC),
            full_seconds=report.full_seconds,
            run_id=run_id,
            sample=json.dumps(
                {
                    "coverage": report.coverage,
                    "missing": [{"row": r.row, "copies": r.copies} for r in report.missing],
                    "unexpected": [{"row": r.row, "copies": r.copies} for r in report.unexpected],
                },
                default=str,
            ),
        )
    )
    return report


def _check_comparable(session: Session, view: ViewRecord, now: Standing) -> None:
    """Raise BaseTableError where the query, as it is now, tells nothing of the rows that the view has: they are of another."""
    if is_of_another_zone(session, view, now):
        raise BaseTableError(
            f"{view.name} cannot be compared with its query: the session's time zone is {session.time_zone}, and its rows are "
            f"of {now.time_zone}. Nothing was compared. Set spark.sql.session.timeZone to that one, and validate it again."
        )
    replaced = replaced_table(session, now.versions)
    if replaced is not None:
        what = f"{replaced} was dropped and created again, or shows other rows,"
    elif session.compiled(view).fingerprint != now.fingerprint:
        what = "its query has another plan"
    else:
        return
    raise BaseTableError(
        f"{view.name} cannot be compared with its query: {what} since batch {now.number}. Nothing was compared. Run "
        f"`ivm maintain {view.name}`, which computes it anew, and validate it then."
    )


def _share(session: Session, view: ViewRecord) -> float:
    """How much of the view is compared: all of one that is marked as drifted, since a sample could miss the difference."""
    share = parse_share(dict(view.properties).get(SAMPLE, "100 %")) or 1.0
    last = session.catalog.last_validation(view.name)
    return share if last is None or last.ok else 1.0
