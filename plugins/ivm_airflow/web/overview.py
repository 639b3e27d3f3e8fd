"""The list of views: which of them, in which order, and what each row says."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ivm_airflow.web.lag import CLOCK, Lag

if TYPE_CHECKING:
    from ivm_core.catalog.model import ViewActivity

SIZES = (25, 50, 100)
LONGEST_FILTER = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A view in the list. ``full_seconds``: measured by the last validation that did, else predicted.

    ``clock_at``: the time that a view of the current time was computed for; None of any other view.
    """

    name: str
    group: str
    comment: str
    built: bool
    last_at: datetime | None
    strategy: str
    reason: str
    detail: str
    rows_changed: int | None
    seconds: float | None
    full_seconds: float | None
    full_measured: bool
    validation: str
    checked_at: datetime | None
    error: str
    versions: Mapping[str, int]
    clock_at: datetime | None = None
    lag: Lag | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What the address asks for; anything that makes no sense there means the default."""

    text: str = ""
    group: str = ""
    sort: str = "name"
    descending: bool = False
    page: int = 1
    size: int = SIZES[0]

    def address(self, **changes: Any) -> str:
        """The query string of this list with some of it changed; without what is the default."""
        asked = replace(self, **changes)
        values = {
            "q": asked.text,
            "group": asked.group,
            "sort": asked.sort if asked.sort != "name" else "",
            "order": "desc" if asked.descending else "",
            "page": asked.page if asked.page != 1 else "",
            "size": asked.size if asked.size != SIZES[0] else "",
        }
        return "?" + urlencode({key: value for key, value in values.items() if value})


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one page of the list, and the numbers above it."""

    query: Query
    rows: tuple[Row, ...]
    found: int
    total: int
    pages: int
    groups: tuple[str, ...]
    drifted: int
    failed: int


SORTS: dict[str, Callable[[Row], Any]] = {
    "name": lambda row: row.name,
    "group": lambda row: row.group,
    "age": lambda row: None if row.last_at is None else -row.last_at.timestamp(),
    "strategy": lambda row: row.strategy or None,
    "seconds": lambda row: row.seconds,
    "full": lambda row: row.full_seconds,
    "validation": lambda row: ("drifted", "never", "validated").index(row.validation),
}


def read_query(values: Mapping[str, str]) -> Query:
    """The query of an address."""
    size = _number(values.get("size", ""))
    sort = values.get("sort", "")
    return Query(
        text=values.get("q", "")[:LONGEST_FILTER].strip(),
        group=values.get("group", "")[:LONGEST_FILTER],
        sort=sort if sort in SORTS else "name",
        descending=values.get("order") == "desc",
        page=max(1, _number(values.get("page", ""))),
        size=size if size in SIZES else SIZES[0],
    )


def list_page(
    views: Sequence[ViewActivity], readable: Collection[str], query: Query, lag: Callable[[Row], Lag]
) -> Page:
    """One page of the views of the ``readable`` groups; ``lag`` is asked for the rows that are shown, and no others."""
    rows = [row_of(activity) for activity in views if activity.view.group in readable]
    text = query.text.lower()
    found = [row for row in rows if text in row.name.lower() and query.group in ("", row.group)]
    key = SORTS[query.sort]
    known = sorted((row for row in found if key(row) is not None), key=lambda row: (key(row), row.name))
    ordered = (known[::-1] if query.descending else known) + [row for row in found if key(row) is None]
    pages = max(1, -(-len(ordered) // query.size))
    asked = replace(query, page=min(query.page, pages))
    shown = ordered[(asked.page - 1) * asked.size : asked.page * asked.size]
    return Page(
        query=asked,
        rows=tuple(replace(row, lag=lag(row)) if row.built else row for row in shown),
        found=len(found),
        total=len(rows),
        pages=pages,
        groups=tuple(sorted({row.group for row in rows})),
        drifted=sum(row.validation == "drifted" for row in rows),
        failed=sum(bool(row.error) for row in rows),
    )


def row_of(activity: ViewActivity) -> Row:
    """What the catalogue knows of a view."""
    view, batch, checked = activity.view, activity.last_batch, activity.last_validation
    attempt = activity.last_attempt
    measured = checked.full_seconds if checked is not None else None
    own = batch.seconds if batch is not None and batch.strategy == "full" else None
    predicted = batch.predicted_full_seconds if batch is not None else None
    return Row(
        name=view.name,
        group=view.group,
        comment=view.comment,
        built=batch is not None,
        last_at=batch.finished_at if batch else None,
        strategy=str(batch.strategy) if batch else "",
        reason=str(batch.reason) if batch else "",
        detail=batch.detail if batch else "",
        rows_changed=batch.rows_changed if batch else None,
        seconds=batch.seconds if batch else None,
        full_seconds=next((value for value in (measured, own, predicted) if value is not None), None),
        full_measured=measured is not None or own is not None,
        validation=validation_state(activity),
        checked_at=checked.checked_at if checked else None,
        error=(attempt.error or "") if attempt is not None else "",
        versions=batch.to_versions if batch else {},
        clock_at=_clock_at(batch.to_versions) if batch else None,
    )


def _clock_at(versions: Mapping[str, int]) -> datetime | None:
    from ivm_core.batch.clock import instant_of

    return instant_of(versions[CLOCK]) if CLOCK in versions else None


def validation_state(activity: ViewActivity) -> str:
    """``validated``, ``drifted`` or ``never``."""
    checked = activity.last_validation
    if activity.view.status == "drifted" or (checked is not None and not checked.ok):
        return "drifted"
    return "never" if checked is None else "validated"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
