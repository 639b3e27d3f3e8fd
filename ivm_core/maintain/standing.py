"""Where a view stands, read from the commit that brought it there: data and progress are one commit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ivm_core.batch.classify import classify
from ivm_core.batch.model import Batch, Commit, CommitClass, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import CommitTag
from ivm_core.maintain.session import Session


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a view stands or stood, as its own Delta log tells: a batch and the versions it ended at.

    ``time_zone``: the session's, None of batches before it was kept. ``restored``: the version of the view's own table whose
    rows the batch brought back, None for any other batch. ``started_at``: the version of that table that the batch added
    to, None where it did not depend on its rows. ``newest``: that of the table when this was read, be it somebody else's rows.
    """

    number: int
    table_id: str  # of the view's own table
    versions: tuple[TableVersion, ...]
    fingerprint: str
    state_version: int
    touched: bool  # somebody else changed the state's rows since, or while the batch was computed
    time_zone: str | None = None
    restored: int | None = None
    started_at: int | None = None
    newest: int = -1

    def of(self, table: str) -> TableVersion | None:
        """The version that the view stands at for one base table."""
        return next((v for v in self.versions if v.table == table), None)


def standing(session: Session, view: ViewRecord) -> Standing | None:
    """Read the view's standing from its Delta log; None where the view was never built."""
    if not session.has_table(view.location):
        return None
    log = session.log(view.location)
    later: list[Commit] = []
    table_id = log.table_id()
    for commit in log.newest_first(at_first=1):  # nearly always that is the view's last batch
        found = _standing(commit, view, table_id)
        if found is not None:
            touched = classify((*later, *_meanwhile(log, found))) is not CommitClass.NOOP
            # Later commits that moved no rows show the same contents, and stay readable for longer.
            shown = commit.version if touched else log.version()
            return replace(found, touched=touched, state_version=shown, newest=log.version())
        later.append(commit)
    return None


def standings(session: Session, view: ViewRecord, newest: int | None = None) -> Iterator[Standing]:
    """Where the view stood after each of its batches up to a version of its table, newest first, as far as the log goes."""
    log = session.log(view.location)
    table_id = log.table_id()
    for commit in log.newest_first():
        found = _standing(commit, view, table_id)
        if found is not None and (newest is None or found.state_version <= newest):
            yield found


def is_spoilt(session: Session, view: ViewRecord, past: Standing) -> bool:
    """Whether somebody else changed the state's rows while the batch was computed: what it left is not its query's."""
    return classify(_meanwhile(session.log(view.location), past)) is not CommitClass.NOOP


def newest_version(session: Session, table: str) -> TableVersion:
    """A base table as it is now. Raises BaseTableError where it is missing."""
    log = session.base_log(table)
    return TableVersion(table, log.table_id(), log.version())


def shown_table(session: Session, view: ViewRecord, table_id: str) -> str:
    """What a view is to those above it: its table, and how its stored rows are shown.

    With another HAVING or select list the same stored rows show others, and no commit tells.
    """
    shown = repr((session.compiled(view).visible_sql, view.columns))
    return f"{table_id}/{hashlib.sha256(shown.encode()).hexdigest()[:12]}"


def _standing(commit: Commit, view: ViewRecord, table_id: str) -> Standing | None:
    tag = _read_tag(commit.user_metadata, view.view_id)
    if tag is None:
        return None
    versions = tuple(TableVersion(t, i, v) for t, (i, v) in sorted(tag["to"].items()))
    return Standing(
        tag["batch"],
        table_id,
        versions,
        tag["fingerprint"],
        commit.version,
        touched=False,
        time_zone=tag.get("time_zone"),
        restored=tag.get("restored"),
        started_at=tag.get("started_at"),
    )


def _meanwhile(log: TableLog, batch: Standing) -> tuple[Commit, ...]:
    """The commits between the version that a batch started from and its own."""
    return () if batch.started_at is None else log.commits(batch.started_at, batch.state_version - 1)


def tag_of(
    view: ViewRecord,
    batch: Batch,
    run_id: str | None,
    time_zone: str | None,
    *,
    started_at: int | None = None,
    restored: int | None = None,
) -> CommitTag:
    """What the batch's commit carries; ``time_zone``, ``started_at`` and ``restored``: see ``Standing``."""
    tag = {
        "ivm": 1,
        "view": view.name,
        "view_id": view.view_id,
        "batch": batch.number,
        "from": batch.from_versions,
        "to": {item.table: (item.table_id, item.to_version) for item in batch.ranges},
        "fingerprint": batch.fingerprint,
        "run_id": run_id,
        "time_zone": time_zone,
        "started_at": started_at,
        "restored": restored,
    }
    tag = {key: value for key, value in tag.items() if value is not None or key == "run_id"}
    return CommitTag(view.view_id, batch.number, json.dumps(tag, sort_keys=True))


def _read_tag(user_metadata: str | None, view_id: str) -> dict[str, Any] | None:
    try:
        tag = json.loads(user_metadata or "")
    except ValueError:
        return None
    return tag if isinstance(tag, dict) and tag.get("view_id") == view_id else None
