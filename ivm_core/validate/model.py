"""The result of comparing a view with its defining query at the same pinned versions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A row of the bag difference with its number of copies."""

    row: dict[str, Any]
    copies: int


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """``missing``: rows the query has and the view lacks; ``unexpected``: the other way; both sampled, the counts whole.

    ``coverage``: the share of the groups, or rows, that was compared; counts and ``rows`` are of that share.
    ``full_seconds`` is the time of a full refresh into a scratch table in the same session (None: not measured).
    """

    view: str
    ok: bool
    missing: tuple[DifferingRow, ...] = ()
    unexpected: tuple[DifferingRow, ...] = ()
    missing_count: int = 0
    unexpected_count: int = 0
    rows: int = 0
    versions: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    full_seconds: float | None = None
    coverage: float = 1.0


@dataclass(frozen=True, slots=True)
class BrokenExpectation:
    """An expectation of a view's users that its rows do not meet; ``detail`` says by how much."""

    view: str
    type: str
    columns: tuple[str, ...]
    severity: str
    detail: str
