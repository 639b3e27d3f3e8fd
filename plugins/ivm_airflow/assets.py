"""Tables and views as Airflow assets: what writers tell of, what starts runs, and what runs tell of in turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from airflow.sdk import Asset, AssetWatcher

from ivm_airflow.manifest import Group

SCHEME = "x-ivm"  # schemes with x- are left as they are


def table_asset(name: str) -> Asset:
    """The asset of a base table or a view, by its name: a task that writes ``shop.orders`` has it among its outlets.

    >>> table_asset("shop.orders").uri
    'x-ivm://shop/orders'
    """
    schema, table = _parts(name)
    return Asset(name=f"{schema}.{table}", uri=f"{SCHEME}://{_path(schema, table)}", group="ivm")


def log_asset(group: Group, table: str, location: str) -> Asset:
    """What the watcher of a table's log tells of, for one group.

    An asset of its own: of one asset in several DAGs, Airflow keeps the watchers of the DAG that it read last.
    """
    from ivm_airflow.watch import DeltaLogTrigger

    trigger = DeltaLogTrigger(location, group.watch_every_seconds or 0.0, group.name)
    return Asset(
        name=f"log of {table} for {group.name}",
        uri=f"{SCHEME}-log://{_path(group.name, *_parts(table))}",
        group="ivm",
        watchers=[AssetWatcher(f"ivm {group.name} {table}", trigger)],
    )


def _parts(name: str) -> tuple[str, str]:
    schema, _, table = name.lower().rpartition(".")
    return schema or "default", table


def _path(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def inlets(group: Group) -> list[Asset]:
    """What the group reads."""
    return [table_asset(name) for name in group.inputs]


def outlets(group: Group) -> list[Asset]:
    """The group's views."""
    return [table_asset(view.name) for view in group.views]


def triggers(group: Group) -> list[Asset]:
    """What starts a run: updates that writers or other groups tell of, and those that a watcher finds."""
    locations = dict(group.watched) if group.watch_every_seconds else {}
    told = [table_asset(name) for name in group.triggers]
    return told + [log_asset(group, name, locations[name]) for name in group.triggers if name in locations]


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
