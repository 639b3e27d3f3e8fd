"""The cut that a group's views were last seen at together: published by a run, read by whoever reads several views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ivm_core.batch.model import Cut, TableVersion
from ivm_core.catalog.model import LifeStage, ViewRecord
from ivm_core.engine.tables import rows_at
from ivm_core.errors import HistoryGone, UnknownViewError
from ivm_core.maintain.session import Session
from ivm_core.maintain.standing import Standing, shown_table, standing, standings
from ivm_core.plan.clock import CLOCK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def publish(session: Session, group: str, run_id: str, cut: Cut, views: Sequence[ViewRecord]) -> None:
    """Publish the cut as what the group's views stand at, where they all do.

    A run of some views tells nothing of the group's others, and one that is tried again late may find views past its cut.
    """
    # As they are registered by now: a batch of this run may have given a view other columns.
    registered = {view.name: view for view in session.catalog.views(group)}
    named = {view.name for view in views if view.group == group}
    found = ((name, standing(session, view)) for name, view in registered.items() if name in named)
    reached = {name: now for name, now in found if now is not None}
    members = {name for name, view in registered.items() if view.status is not LifeStage.CREATING}
    if members <= reached.keys() and not any(_is_past(now, cut) for now in reached.values()):
        states = tuple(
            TableVersion(name, shown_table(session, registered[name], now.table_id), now.state_version)
            for name, now in reached.items()
        )
        session.catalog.publish_cut(group, run_id, states)


def read_published(session: Session, group: str) -> dict[str, DataFrame]:
    """The rows of a group's views, by name, as of the cut that it published last; of those that there are still.

    Raises UnknownViewError where it has published none, HistoryGone where a view's table is no longer what it was then.
    """
    published = session.catalog.latest_cut(group.lower())
    if published is None:
        raise UnknownViewError(
            f"The group {group!r:.100} has published no cut yet: run `ivm maintain --group` with its name."
        )
    views = {state: session.catalog.find_view(state.table) for state in published.states}
    return {view.name: _read(session, view, state) for state, view in views.items() if view is not None}


def _read(session: Session, view: ViewRecord, state: TableVersion) -> DataFrame:
    compiled, then = session.compiled(view), next(standings(session, view, state.version), None)
    same = then is not None and shown_table(session, view, then.table_id) == state.table_id
    if then is None or not same or then.fingerprint != compiled.fingerprint:
        raise HistoryGone(
            f"{view.name} has another table or another query than when its group last published a cut. Run "
            f"`ivm maintain --group {view.group}`, which publishes the next one."
        )
    if not session.log(view.location).is_readable(state.version):
        raise HistoryGone(
            f"What group {view.group} published of {view.name} last is past the retention of its table. Run "
            f"`ivm maintain --group {view.group}`, which publishes the next cut."
        )
    return rows_at(session.spark, view.location, state.version, compiled.visible_sql)


def _is_past(now: Standing, cut: Cut) -> bool:
    return any(
        there is not None and there.table_id == here.table_id and here.version > there.version
        for here, there in ((version, cut.of(version.table)) for version in now.versions if version.table != CLOCK)
    )
