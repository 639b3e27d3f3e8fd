"""The list of views: which of them, in which order, and on which page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ivm_airflow.web.lag import Lag
from ivm_airflow.web.rows import STATES, Row, row_of

if TYPE_CHECKING:
    from ivm_core.catalog.model import ViewActivity

SIZES = (25, 50, 100)
LONGEST_FILTER = 200


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
    "lag": lambda row: row.behind,
    "age": lambda row: None if row.last_at is None else -row.last_at.timestamp(),
    "strategy": lambda row: row.strategy or None,
    "seconds": lambda row: row.seconds,
    "full": lambda row: row.full_seconds,
    "validation": lambda row: STATES.index(row.validation),
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
    views: Sequence[ViewActivity],
    readable: Collection[str],
    query: Query,
    lag: Callable[[Row], Lag],
    behind: Callable[[Row], int | None],
) -> Page:
    """One page of the views of the ``readable`` groups.

    ``lag`` is asked for the rows that are shown, and no others; ``behind`` for all that are found, to sort them by it.
    """
    rows = [row_of(activity) for activity in views if activity.view.group in readable]
    text = query.text.lower()
    found = [row for row in rows if text in row.name.lower() and query.group in ("", row.group)]
    if query.sort == "lag":
        found = [replace(row, behind=behind(row)) for row in found]
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


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
