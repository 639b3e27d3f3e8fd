"""What is known of a view's past batches and of the batch at hand; handed to the decision, never asked for by it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PastBatch:
    """One earlier batch of the view: whether it was a full refresh, its changed base-table rows and its seconds.

    ``work``: how many relations its job opens and computes (0: not known). ``first_build``: the one that made the view.
    ``number``: its place in the view's history.
    """

    full: bool
    changed_rows: int
    seconds: float
    work: float = 0.0
    first_build: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """``past`` newest first; ``changed_rows``, ``base_rows`` and ``work`` of the batch at hand (None, 0: not known)."""

    past: tuple[PastBatch, ...] = ()
    changed_rows: int | None = None
    base_rows: int | None = None
    work: float = 0.0
