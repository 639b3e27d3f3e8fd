"""Where a view stands, read from the commit that brought it there: data and progress are one commit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ivm_core.batch.classify import classify
from ivm_core.batch.model import Batch, Commit, CommitClass, TableVersion
from ivm_core.catalog.model import ViewRecord
from ivm_core.engine.model import CommitTag
from ivm_core.maintain.session import Session

WINDOW = 50  # commits read at a time, newest first; the batch's own is almost always among the first few


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a view stands, as its own Delta log tells: the last batch and the versions it ended at."""

    number: int
    table_id: str  # of the view's own table
    versions: tuple[TableVersion, ...]
    fingerprint: str
    state_version: int
    touched: bool  # somebody else changed the state's rows since

    def of(self, table: str) -> TableVersion | None:
        """The version that the view stands at for one base table."""
        return next((v for v in self.versions if v.table == table), None)


def standing(session: Session, view: ViewRecord) -> Standing | None:
    """Read the view's standing from its Delta log; None where the view was never built."""
    if not session.has_table(view.location):
        return None
    log = session.log(view.location)
    newest = log.version()
    later: list[Commit] = []
    for high in range(newest, -1, -WINDOW):
        for commit in reversed(log.commits(max(-1, high - WINDOW), high)):
            tag = _read_tag(commit.user_metadata, view.view_id)
            if tag is not None:
                touched = classify(later) is not CommitClass.NOOP
                return Standing(
                    number=tag["batch"],
                    table_id=log.table_id(),
                    versions=tuple(TableVersion(t, i, v) for t, (i, v) in sorted(tag["to"].items())),
                    fingerprint=tag["fingerprint"],
                    # Later commits that moved no rows show the same contents, and stay readable for longer.
                    state_version=commit.version if touched else newest,
                    touched=touched,
                )
            later.append(commit)
    return None


def tag_of(view: ViewRecord, batch: Batch, run_id: str | None) -> CommitTag:
    """What the batch's commit carries."""
    tag = {
        "ivm": 1,
        "view": view.name,
        "view_id": view.view_id,
        "batch": batch.number,
        "from": batch.from_versions,
        "to": {item.table: (item.table_id, item.to_version) for item in batch.ranges},
        "fingerprint": batch.fingerprint,
        "run_id": run_id,
    }
    return CommitTag(view.view_id, batch.number, json.dumps(tag, sort_keys=True))


def _read_tag(user_metadata: str | None, view_id: str) -> dict[str, Any] | None:
    try:
        tag = json.loads(user_metadata or "")
    except ValueError:
        return None
    return tag if isinstance(tag, dict) and tag.get("view_id") == view_id else None
