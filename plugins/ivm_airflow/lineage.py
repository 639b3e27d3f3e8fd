"""What OpenLineage's provider is told of a run, where it is installed: each view that changed, and where its columns come from.

The step that changed the views remembers their lineage, for it has their plans; the provider asks the task once it has ended.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ivm_core import Engine
    from ivm_core.catalog.model import ViewRecord

PROVIDER = "apache-airflow-providers-openlineage"
# In these a name is a key, without the slash before it; elsewhere a path.
OBJECT_STORES = frozenset({"s3", "gs", "abfss", "wasbs"})
Told = list[dict[str, Any]]

logger = logging.getLogger(__name__)


class TellsLineage:
    """A task that the provider asks for the lineage of what it did."""

    told: Told | None = None

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """The provider's ``OperatorLineage``; it asks tasks that failed too, for what they had done by then."""
        from ivm_airflow.lineage_facets import operator_lineage

        return operator_lineage(self.told or ())


@cache
def is_wanted() -> bool:
    """Whether the provider is installed. Asked of the metadata: programs that tasks submit must not import Airflow."""
    try:
        version(PROVIDER)
    except PackageNotFoundError:
        return False
    return True


def remember_lineage(engine: Engine, ti: Any, reports: Iterable[Mapping[str, Any]]) -> None:
    """Leave the lineage of the views that the reports say were changed on the running task."""
    if not is_wanted():
        return
    changed = [report for report in reports if not report["error"] and report["strategy"] != "noop"]
    try:
        told = [_told(engine, report) for report in changed]
    except Exception:  # the views are right all the same
        logger.warning("The lineage of %s could not be found out.", [r["view"] for r in changed], exc_info=True)
        return
    ti.task.told = [*(getattr(ti.task, "told", None) or ()), *told]


def dataset_name(location: str) -> tuple[str, str]:
    """OpenLineage's namespace and name of a Delta table, as Spark's own integration names it.

    >>> dataset_name("/lake/orders"), dataset_name("file:///lake/orders")
    (('file', '/lake/orders'), ('file', '/lake/orders'))
    >>> dataset_name("s3a://bucket/lake/orders/"), dataset_name("hdfs://name:8020/lake/orders")
    (('s3://bucket', 'lake/orders'), ('hdfs://name:8020', '/lake/orders'))
    """
    parts = urlsplit(location)
    path = parts.path.rstrip("/")
    if parts.scheme in ("", "file"):
        return "file", path
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme
    return f"{scheme}://{parts.netloc}", path.lstrip("/") if scheme in OBJECT_STORES else path


def _told(engine: Engine, report: Mapping[str, Any]) -> dict[str, Any]:
    """A view's batch and lineage as JSON."""
    view = engine.catalog.view(report["view"])
    lineage = engine.column_lineage([view.name])[view.name]
    return {
        **_dataset(view.name, view.location, view.columns, None),
        "comment": view.comment,
        "rows_changed": report["rows_changed"],
        "reads": [_read(engine, name, report["to_versions"].get(name)) for name in _tables(view)],
        "lineage": {
            "columns": {name: [_origin(o) for o in origins] for name, origins in lineage.columns.items()},
            "rows": [_origin(o) for o in lineage.rows],
        },
    }


def _tables(view: ViewRecord) -> list[str]:
    from ivm_core.plan.clock import CLOCK

    return [name for name in view.tables if name != CLOCK]


def _read(engine: Engine, name: str, version: int | None) -> dict[str, Any]:
    record = engine.catalog.find_view(name) or engine.catalog.table(name)
    if record is None:
        raise LookupError(f"{name} is not in the catalogue.")
    return _dataset(name, record.location, record.columns, version)


def _dataset(name: str, location: str, columns: Iterable[tuple[str, str]], version: int | None) -> dict[str, Any]:
    return {"name": name, "location": location, "columns": [list(column) for column in columns], "version": version}


def _origin(origin: Any) -> dict[str, str]:
    return {key: str(value) for key, value in asdict(origin).items()}
