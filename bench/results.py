"""What the demo found: rounds of changes, what each did to each view, and the times of both ways, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Round:
    """One set of changes and the DAG run after it. ``rows``: changed rows by base table; times in seconds."""

    name: str
    title: str
    rows: Mapping[str, int]
    change_seconds: float
    run_id: str
    run_seconds: float


@dataclass(frozen=True, slots=True)
class Batch:
    """What one round did to one view; ``rows_changed`` counts rows of the view's state."""

    strategy: str
    reason: str
    rows_changed: int
    seconds: float
    detail: str = ""
    error: str | None = None
    shared_seconds: float = 0.0  # beside ``seconds``: reading what all views of the run use


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A view through all rounds. ``full_seconds`` and ``validated`` are the last round's; None: not found out."""

    view: str
    batches: tuple[Batch, ...]
    full_seconds: float | None = None
    validated: bool | None = None
    rows: int | None = None

    @property
    def name(self) -> str:
        """The view's name without its schema."""
        return self.view.rpartition(".")[2]

    @property
    def seconds(self) -> float:
        """Seconds of the last round's batch."""
        return self.batches[-1].seconds

    @property
    def ratio(self) -> float | None:
        """How many times longer a full refresh takes than the last round's batch; None where one is not known."""
        if self.full_seconds is None or self.seconds <= 0 or self.batches[-1].error:
            return None
        return self.full_seconds / self.seconds


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The whole demo. ``machine`` says where it ran, ``steps`` how long its preparation took, in seconds."""

    scale: float
    percent: float
    rounds: tuple[Round, ...]
    views: tuple[ViewResult, ...]
    machine: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    finished_at: str = ""
    unchanged_seconds: float | None = None  # a run of the group after the last round, when no table had changed
    total_seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """True where no batch failed and every view was validated and found right."""
        return all(view.validated and not any(batch.error for batch in view.batches) for view in self.views)

    @property
    def incremental_seconds(self) -> tuple[float, ...]:
        """Seconds of all views together with what they share, one number a round."""
        return tuple(
            sum(view.batches[index].seconds + view.batches[index].shared_seconds for view in self.views)
            for index in range(len(self.rounds))
        )

    @property
    def shared_seconds(self) -> float:
        """Seconds of the last round that went into reading changes and small tables once for all views."""
        return sum(view.batches[-1].shared_seconds for view in self.views) if self.rounds else 0.0

    @property
    def last_seconds(self) -> float | None:
        """Seconds of the last round's batches together; None before the first round."""
        return self.incremental_seconds[-1] if self.rounds else None

    @property
    def full_seconds(self) -> float | None:
        """Seconds that full refreshes of all views take together; None where not all were measured."""
        known = [view.full_seconds for view in self.views if view.full_seconds is not None]
        return sum(known) if known and len(known) == len(self.views) else None

    @property
    def ratio(self) -> float | None:
        """How many times longer full refreshes of all views take than the last round's batches."""
        return self.full_seconds / self.last_seconds if self.full_seconds is not None and self.last_seconds else None


def join_reports(reports: Sequence[Mapping[str, Any]]) -> tuple[ViewResult, ...]:
    """The reports that the DAG runs wrote, one a round → one result a view, in the order of names.

    A view that a report leaves out had nothing to do in that round.
    """
    by_round = [{entry["view"]: entry for entry in report["views"]} for report in reports]
    names = sorted({name for entries in by_round for name in entries})
    return tuple(_view(name, [entries.get(name) for entries in by_round]) for name in names)


def _view(name: str, entries: Iterable[Mapping[str, Any] | None]) -> ViewResult:
    found = list(entries)
    last = found[-1] or {}
    return ViewResult(
        name,
        tuple(_batch(entry) for entry in found),
        full_seconds=last.get("full_seconds"),
        validated=last.get("validated"),
        rows=last.get("rows"),
    )


def _batch(entry: Mapping[str, Any] | None) -> Batch:
    if entry is None:
        return Batch("noop", "no_changes", 0, 0.0)
    return Batch(
        entry["strategy"],
        entry["reason"],
        entry["rows_changed"],
        entry["seconds"],
        entry.get("detail") or "",
        entry.get("error"),
        entry.get("shared_seconds") or 0.0,
    )
