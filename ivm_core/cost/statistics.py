"""What is known of a view's past batches and of the batch at hand; handed to the decision, never asked for by it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PastBatch:
    """One earlier batch of the view: whether it was a full refresh, its changed base-table rows and its seconds."""

    full: bool
    changed_rows: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """``past`` newest first; ``changed_rows`` and ``base_rows`` of the batch at hand (None: not known)."""

    past: tuple[PastBatch, ...] = ()
    changed_rows: int | None = None
    base_rows: int | None = None
