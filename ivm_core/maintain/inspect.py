"""Answer questions about a deployment: status, lineage, doctor. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from ivm_core.batch.classify import classify_commit
from ivm_core.batch.clock import instant_of, stale_at
from ivm_core.batch.model import CommitClass
from ivm_core.batch.volume import changed_rows
from ivm_core.catalog.model import ViewActivity, ViewRecord
from ivm_core.engine.session import DELTA_PACKAGE, jars, java_version
from ivm_core.errors import BaseTableError, IvmError, SchemaChangedError
from ivm_core.maintain.layout import layout_checks
from ivm_core.maintain.model import Check, ViewStatus
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, standing
from ivm_core.plan.clock import CLOCK, clock_columns
from ivm_core.plan.column_lineage import ColumnLineage, column_lineage
from ivm_core.plan.names import qualify_all

FEED = "delta.enableChangeDataFeed"
BROKEN = "broken"  # the status of a view whose query no longer compiles, or whose state's log cannot be read


def status(session: Session, views: Iterable[str] | None = None) -> list[ViewStatus]:
    """The status of the named views, or of all, by name. Raises UnknownViewError."""
    wanted = None if views is None else {session.catalog.view(name).name for name in qualify_all(views)}
    return [_status(session, item) for item in session.catalog.activity() if wanted is None or item.view.name in wanted]


def _status(session: Session, activity: ViewActivity) -> ViewStatus:
    view, batch, checked = activity.view, activity.last_batch, activity.last_validation
    now, clock_lag, as_is, word = None, 0.0, False, BROKEN
    with suppress(BaseTableError):  # of its state's log, or of its query
        now = standing(session, view)
        clock_lag, as_is, word = _clock_lag(session, view, now), session.compiled(view).layout.reads_as_is, view.status
    lags = [_Lag.of(session, table, now) for table in view.tables if table != CLOCK]
    behind = [lag for lag in lags if lag.versions]
    return ViewStatus(
        view=view.name,
        group=view.group,
        status=str(word),
        versions={v.table: v.version for v in now.versions} if now else {},
        lag_versions={lag.table: lag.versions for lag in lags},
        lag_rows=sum(lag.rows for lag in lags),
        lag_seconds=max([clock_lag, *(lag.seconds for lag in behind)]),
        last_strategy=str(batch.strategy) if batch else None,
        last_reason=str(batch.reason) if batch else None,
        last_seconds=batch.seconds if batch else None,
        last_finished_at=batch.finished_at if batch else None,
        validated=checked.ok if checked else None,
        validated_at=checked.checked_at if checked else None,
        retention_left_seconds=min((lag.retention_left for lag in behind), default=None),
        reads_as_is=as_is,
        location=view.location,
    )


class _Lag:
    """How far a view is behind one of the tables that it reads."""

    def __init__(self, table: str, versions: int = 0, rows: int = 0, seconds: float = 0.0, retention_left: float = 0.0):
        self.table, self.versions, self.rows = table, versions, rows
        self.seconds, self.retention_left = seconds, retention_left

    @classmethod
    def of(cls, session: Session, table: str, now: Standing | None) -> _Lag:
        location = session.location(table)
        if now is None or not session.has_table(location):
            return cls(table)
        log, start = session.log(location), now.of(table)
        try:
            newest = log.version()
        except BaseTableError:  # an empty log is no table
            return cls(table)
        if start is None:
            return cls(table)
        # Of a view below, the id goes on with how its rows are shown.
        same = start.table_id.partition("/")[0] == log.table_id() and start.version <= newest
        if not same:
            start = replace(start, version=-1)  # made anew, or put back: the view has seen nothing of it
        if start.version >= newest:
            return cls(table)
        missed = log.commits(start.version, newest)
        while same and missed and classify_commit(missed[0]) is CommitClass.NOOP:
            start = replace(start, version=missed[0].version)  # rows are the same there, so no batch would go there
            missed = missed[1:]
        if start.version >= newest:
            return cls(table)
        # The view is stale since the first commit that it has not seen.
        age = (datetime.now(UTC) - missed[0].timestamp).total_seconds() if missed else 0.0
        left = log.retention().total_seconds() - age
        return cls(table, newest - start.version, changed_rows(missed), age, max(0.0, left))


def _clock_lag(session: Session, view: ViewRecord, now: Standing | None) -> float:
    """For how long the time that the view stands at has been another one, in seconds."""
    start = now.of(CLOCK) if now is not None else None
    if start is None:
        return 0.0
    read = {column.source for column in clock_columns(session.compiled(view).plan)}
    return max(0.0, (datetime.now(UTC) - instant_of(stale_at(read, start))).total_seconds())


def lineage(session: Session, view: str | None = None) -> dict[str, tuple[str, ...]]:
    """The tables and views that each view reads directly; for one view, of it and of everything it rests on."""
    reads = {r.name: tuple(table for table in r.tables if table != CLOCK) for r in session.catalog.views()}
    if view is None:
        return reads
    session.catalog.view(view)
    found: dict[str, tuple[str, ...]] = {}
    pending = [view]
    while pending:
        name = pending.pop()
        if name in reads and name not in found:
            found[name] = reads[name]
            pending += reads[name]
    return found


def column_lineages(session: Session, views: Iterable[str] | None = None) -> dict[str, ColumnLineage]:
    """Where the columns of the named views, or of all, come from in what each reads directly."""
    names = [view.name for view in session.catalog.views()] if views is None else views
    return {name: column_lineage(session.compiled(session.catalog.view(name)).plan) for name in names}


def doctor(session: Session) -> list[Check]:
    """Check what maintenance needs, without a Spark session where tables are on local paths."""
    checks = [*_spark_checks(session.settings.spark.master), Check("catalogue", True, session.settings.safe_catalog)]
    for table in session.catalog.tables():
        checks += _table_checks(session, table.name, table.location)
    checks += layout_checks(session)
    for view in session.catalog.views():
        checks.append(_view_check(session, view.name, view.location, view.view_id))
    return checks


def _spark_checks(master: str) -> list[Check]:
    """Java and Delta Lake's JARs, which a session of this process needs; a Spark Connect server has its own."""
    return [] if master.startswith("sc://") else [_java(), _jars()]


def _java() -> Check:
    try:
        version = java_version()
    except IvmError as error:
        return Check("Java", False, "not found", error.message)
    return Check("Java", version >= 17, str(version), "" if version >= 17 else "Spark 4 needs Java 17 or newer.")


def _jars() -> Check:
    found = [path.name for path in jars()]
    delta = [name for name in found if "delta-spark" in name]
    if found and not delta:
        return Check("Delta JARs", False, "none among the JARs", "Run `make setup`, or correct IVM_JARS.")
    return Check("Delta JARs", True, ", ".join(delta) or f"Spark fetches {DELTA_PACKAGE} as it starts")


def _table_checks(session: Session, name: str, location: str) -> list[Check]:
    if not session.has_table(location):
        return [Check(f"table {name}", False, f"no Delta table at {location}", "Create it again, or drop its views.")]
    log = session.log(location)
    try:
        feed = log.properties().get(FEED) == "true"
    except BaseTableError as error:
        return [Check(f"table {name}", False, error.message, "Create it again, or drop its views.")]
    advice = "" if feed else f"ALTER TABLE {name} SET TBLPROPERTIES ('{FEED}' = 'true')"
    detail = "on" if feed else "off: changes are found by comparing versions, which reads the whole table"
    days = log.retention().total_seconds() / 86400
    return [
        Check(f"change data feed {name}", feed, detail, advice),
        Check(f"retention {name}", True, f"{days:g} days: a view that lags longer is refreshed in full"),
    ]


def _view_check(session: Session, name: str, location: str, view_id: str) -> Check:
    view = session.catalog.view(name)
    try:
        session.compiled(view)
        now = standing(session, view)
    except SchemaChangedError as error:
        return Check(f"view {name}", False, "its query no longer compiles", error.message)
    except BaseTableError as error:
        return Check(f"view {name}", False, error.message, f"Drop the view and create it again, or restore {location}.")
    if now is None:
        return Check(f"view {name}", False, "not built", f"ivm maintain {name}")
    if now.touched:
        return Check(f"view {name}", False, "its table was changed by something else", f"ivm refresh {name}")
    if now.fingerprint != view.fingerprint:
        detail = "its state is of another form of its query: an apply was broken off, or its columns changed"
        return Check(f"view {name}", False, detail, f"ivm refresh {name}")
    lag = [_Lag.of(session, table, now) for table in view.tables if table != CLOCK]
    alarm = session.settings.retention_alarm
    for item in lag:
        total = item.seconds + item.retention_left
        if item.versions and total and item.seconds / total > alarm:
            return Check(
                f"view {name}",
                False,
                f"{item.seconds / total:.0%} of the retention of {item.table} is used up",
                f"ivm maintain {name}",
            )
    return Check(f"view {name}", True, f"batch {now.number}")
