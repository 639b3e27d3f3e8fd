"""A view's page: what is put together from the catalogue, the logs and the compiler."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ivm_airflow.web.draw_history import HistoryPicture, draw_history
from ivm_airflow.web.draw_lineage import LineagePicture, draw_lineage
from ivm_airflow.web.draw_plan import PlanPicture, draw_plan
from ivm_airflow.web.lag import unreadable
from ivm_airflow.web.rows import Row, row_of

if TYPE_CHECKING:
    from ivm_airflow.web.store import Store
    from ivm_core.catalog.model import BatchRecord, ValidationRecord, ViewActivity, ViewRecord

BATCHES = 50
VALIDATIONS = 20
LEGIBLE = 400  # operators; a larger plan is shown as text


@dataclass(frozen=True, slots=True)
class Method:
    """How the view is maintained. ``error``: why nothing can be said of it."""

    head: str = ""
    state: str = ""
    operators: tuple[Any, ...] = ()
    plan: PlanPicture | None = None
    delta: PlanPicture | None = None
    plan_text: str = ""
    delta_text: str = ""
    sql: dict[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class ViewPage:
    """Everything that the page of one view shows."""

    row: Row
    view: ViewRecord
    method: Method
    history: tuple[BatchRecord, ...]
    chart: HistoryPicture | None
    validations: tuple[ValidationRecord, ...]
    lineage: LineagePicture


def view_page(store: Store, name: str, views: Collection[ViewActivity], readable: Collection[str]) -> ViewPage | None:
    """The page of a view of one of the ``readable`` groups; None where there is no such view for this visitor."""
    activity = next((item for item in views if item.view.name == name and item.view.group in readable), None)
    if activity is None:
        return None
    row = row_of(activity)
    if row.built:
        row = replace(row, lag=store.lags.of(row.versions, store.locations()))
    history = store.history(name, BATCHES)
    visible = {item.view.name for item in views if item.view.group in readable}
    return ViewPage(
        row=row,
        view=activity.view,
        method=_method(store, name),
        history=history,
        chart=draw_history(history, row.full_seconds) if history else None,
        validations=store.validations(name, VALIDATIONS),
        lineage=draw_lineage(name, {item.view.name: item.view.tables for item in views}, visible),
    )


def _method(store: Store, name: str) -> Method:
    from ivm_core.errors import IvmError

    try:
        found = store.explanation(name)
    except IvmError as error:
        return Method(error=error.message)
    except unreadable() as error:
        return Method(error=f"A table's log cannot be read: {error}")
    return Method(
        head=f"{found.strategy} ({found.reason})" + (f": {found.detail}" if found.detail else ""),
        state=found.state,
        operators=found.operators,
        plan=_picture(found.plan),
        delta=_picture(found.delta),
        plan_text=found.plan,
        delta_text=found.delta,
        sql=found.sql,
    )


def _picture(text: str) -> PlanPicture | None:
    return draw_plan(text) if text and text.count("\n") < LEGIBLE else None
