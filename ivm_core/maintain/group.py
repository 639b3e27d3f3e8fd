"""Run the views of a group to one cut: upstream views first, every base table's changes read once for all of them."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from ivm_core.apply.model import MaintenanceReport
from ivm_core.batch.clock import version_of
from ivm_core.batch.model import Cut, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.cost.model import Reason, Strategy
from ivm_core.errors import UPSTREAM_FAILED, BaseTableError, IvmError, UnknownViewError
from ivm_core.maintain.auxiliaries import auxiliaries_of, raised
from ivm_core.maintain.columns import columns_read
from ivm_core.maintain.expectation import expected_reads
from ivm_core.maintain.next_batch import needs_batch
from ivm_core.maintain.published import publish
from ivm_core.maintain.records import told
from ivm_core.maintain.rewind import joined
from ivm_core.maintain.session import Session
from ivm_core.maintain.slots import below_of, order_of, run_in_order, shared_tables, views_at_once
from ivm_core.maintain.upkeep import keep_up
from ivm_core.maintain.view import maintain_view, rewind_view
from ivm_core.plan.clock import CLOCK
from ivm_core.plan.definition import Policy
from ivm_core.plan.names import qualify_all

logger = logging.getLogger(__name__)

Progress = Callable[[str, str], None]


def select_views(session: Session, names: Iterable[str] | None, group: str | None) -> tuple[ViewRecord, ...]:
    """The named views, or those of a group, or all; upstream views before their dependants.

    A named view's auxiliaries are chosen with it. Raises UnknownViewError for a view or a group that there is not.
    """
    if names is not None:
        named = [session.catalog.view(name) for name in qualify_all(names)]
        chosen = {view.name: view for owner in named for view in (*auxiliaries_of(session, owner), owner)}
    else:
        chosen = {view.name: view for view in session.catalog.views(group.lower() if group is not None else None)}
        if group is not None and not chosen:
            known = ", ".join(sorted({view.group for view in session.catalog.views()})[:20]) or "none"
            raise UnknownViewError(f"There is no group {group!r:.100}. The groups are: {known}.")
    return tuple(chosen[name] for name in order_of(chosen.values()).static_order())


def in_utc(instant: datetime) -> datetime:
    """The instant in UTC; one without a zone is in UTC already. Raises ValueError where UTC has no such year."""
    try:
        return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError(f"{instant.isoformat()} is outside of the years 1 to 9999 in UTC") from None


def make_cut(session: Session, views: Sequence[ViewRecord], as_of: datetime | None = None) -> Cut:
    """Fix the version of every base table that the views read. Needs no JVM on local paths.

    Tables that only views below them read are not among them.

    ``as_of``: the newest version committed at or before that instant (naive: UTC), which is what the time is then. A table
    that is younger, or whose log does not reach back to it, is taken as it is now.
    """
    as_of = in_utc(as_of) if as_of is not None else None
    versions = []
    for table in sorted({table for view in views for table in view.tables}):
        if session.catalog.find_view(table) is not None:
            continue
        if table == CLOCK:
            # Its time zone is that of the session in which a view is maintained.
            versions.append(TableVersion(CLOCK, "", version_of(as_of or datetime.now(UTC))))
            continue
        # Where it is missing, the views that read it fail by themselves, and only they.
        with suppress(BaseTableError):
            log = session.base_log(table)
            version = log.version_as_of(as_of)
            versions.append(TableVersion(table, log.table_id(), log.version() if version is None else version))
    return Cut(tuple(versions), as_of)


def pending_views(session: Session, views: Sequence[ViewRecord], cut: Cut) -> tuple[str, ...]:
    """Those of the views, upstream first, that have work to do before they stand at the cut."""
    pending: list[str] = []
    for view in views:
        if any(table in pending for table in view.tables) or needs_batch(session, view, cut):
            pending.append(view.name)
    return tuple(pending)


def maintain_views(
    session: Session,
    views: Sequence[ViewRecord],
    cut: Cut,
    policy: Policy | None = None,
    run_id: str | None = None,
    on_progress: Progress | None = None,
    rewind_to: datetime | None = None,
) -> tuple[list[MaintenanceReport], list[Exception]]:
    """Bring the views to the cut, upstream views first. A view that fails stops its dependants only.

    ``rewind_to``: each view first goes back to its newest batch at or before that instant, and replays from there.
    Returns a report for every view, with the message of a failure, in the given order, and the failures themselves.
    """
    run_id = run_id or str(uuid.uuid4())
    groups = tuple(dict.fromkeys(view.group for view in views))
    for group in groups:
        # A run that is tried again keeps the cut that it fixed first.
        cut = session.catalog.add_cut(group, run_id, cut).cut
    if rewind_to is None:
        cut = raised(session, cut, views)
    reports: dict[str, MaintenanceReport] = {}
    failures: list[Exception] = []
    below = below_of(views)

    def maintain(view: ViewRecord) -> None:
        failed = sorted(name for name in below[view.name] if name in reports and reports[name].error)
        if on_progress:
            on_progress(view.name, "maintain")
        if failed:
            message = f"{failed[0]}, from which {view.name} is made, could not be maintained."
            reports[view.name] = _failure(view, message, UPSTREAM_FAILED)
            return
        try:
            back = rewind_view(session, view, rewind_to, cut, policy, run_id) if rewind_to else None
            reports[view.name] = joined(back, maintain_view(session, view, cut, policy, run_id))
            keep_up(session, reports[view.name])
        except Exception as error:  # any failure of one view leaves the others their run
            # The report carries the message; whoever shows reports shows it.
            logger.info("%s failed: %s", view.name, type(error).__name__)
            code = error.code if isinstance(error, IvmError) else IvmError.code
            reports[view.name] = _failure(view, told(error), code)
            failures.append(error)
        if on_progress:
            on_progress(view.name, "done")

    expected = partial(expected_reads, session, views, cut, policy)
    shared = shared_tables(view.tables for view in views)
    with session.shared_reads(columns_read(session, views), expected, shared):
        run_in_order(views, views_at_once(session.settings), maintain, partial(_last_seconds, session, views))
    if not any(report.error for report in reports.values()):
        for group in groups:
            publish(session, group, run_id, cut, views)
    return [reports[view.name] for view in views], failures


def _last_seconds(session: Session, views: Sequence[ViewRecord]) -> dict[str, float]:
    """What the newest batch of each view took."""
    found = session.catalog.activity({view.name for view in views})
    return {each.view.name: each.last_batch.seconds for each in found if each.last_batch is not None}


def _failure(view: ViewRecord, message: str, code: str) -> MaintenanceReport:
    return MaintenanceReport(view.name, Strategy.NOOP, Reason.FAILED, error=message, error_code=code)
