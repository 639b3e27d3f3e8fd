"""Tables and views as Airflow assets: what writers tell of, what starts runs, and what runs tell of in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from airflow.sdk import Asset, AssetWatcher

from ivm_airflow.manifest import Group

if TYPE_CHECKING:
    from ivm_core import Engine

SCHEME = "x-ivm"  # schemes with x- are left as they are


def table_asset(name: str, watchers: Iterable[AssetWatcher] = ()) -> Asset:
    """The asset of a base table or a view, by its name: a task that writes ``shop.orders`` has it among its outlets.

    >>> table_asset("shop.orders").uri
    'x-ivm://shop/orders'
    """
    schema, _, table = name.lower().rpartition(".")
    uri = f"{SCHEME}://{quote(schema or 'default', safe='')}/{quote(table, safe='')}"
    return Asset(name=f"{schema or 'default'}.{table}", uri=uri, group="ivm", watchers=list(watchers))


def inlets(group: Group) -> list[Asset]:
    """What the group reads."""
    return [table_asset(name) for name in group.inputs]


def outlets(group: Group) -> list[Asset]:
    """The group's views."""
    return [table_asset(view.name) for view in group.views]


def triggers(group: Group) -> list[Asset]:
    """The tables whose updates start a run; those that are watched with their watcher."""
    locations = dict(group.watched) if group.watch_every_seconds else {}
    return [table_asset(name, _watchers(group, name, locations.get(name))) for name in group.triggers]


def announce(reports: Iterable[Mapping[str, Any]], context: Mapping[str, Any]) -> list[str]:
    """Tell of the views that the run changed, each with its versions, rows and strategy; returns their names.

    The DAG declares all views of its group; of those that failed or stand where they stood nothing is told.
    """
    changed = {report["view"]: report for report in reports if not report["error"] and report["strategy"] != "noop"}
    task = context["ti"].task
    # On success Airflow makes an event of every outlet that the running task has.
    task.outlets = [asset for asset in task.outlets if asset.name in changed]
    for asset in task.outlets:
        context["outlet_events"][asset].extra = event_of(changed[asset.name])
    return [asset.name for asset in task.outlets]


def event_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """What an asset event says of a view's batch."""
    keys = ("batch", "strategy", "reason", "rows_changed", "from_versions", "to_versions", "seconds")
    return {key: report[key] for key in keys}


def with_earlier_tries(engine: Engine, reports: list[dict[str, Any]], run_id: str) -> list[dict[str, Any]]:
    """The reports, with the batches that an earlier try of the same run made where this one found nothing left to do."""
    from ivm_airflow.packing import pack_batch

    joined = []
    for report in reports:
        done = None
        if not report["error"] and report["strategy"] == "noop":
            batches = engine.history(report["view"], 10)
            done = next(
                (batch for batch in batches if batch.run_id == run_id and batch.succeeded and batch.number), None
            )
        joined.append(pack_batch(done) if done is not None and done.strategy != "noop" else report)
    return joined


def _watchers(group: Group, table: str, location: str | None) -> tuple[AssetWatcher, ...]:
    if location is None or group.watch_every_seconds is None:
        return ()
    from ivm_airflow.watch import DeltaLogTrigger

    return (AssetWatcher(f"ivm_{table}", DeltaLogTrigger(location=location, every_seconds=group.watch_every_seconds)),)
