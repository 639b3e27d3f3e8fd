"""What the use cases answer with."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Mode(StrEnum):
    """What a run is asked to do with its views."""

    CATCH_UP = "catch_up"  # on from where they stand, never backwards
    REWIND = "rewind"  # back to a time first, and on from there
    FULL = "full"  # anew, from their whole queries


@dataclass(frozen=True, slots=True)
class OperatorStrategy:
    """How one operator of a view's plan is maintained.

    ``reason`` is a stable code (``delta.reasons.Code``), ``note`` says it in words; ``advice``: the smallest rewrite of the
    query that would make the operator cheaper to maintain, empty where there is none.
    """

    operator: str
    strategy: str
    reason: str = ""
    note: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why and how a view is maintained. ``plan`` and ``delta`` are operator trees, ``sql`` the generated statements by step.

    ``strategy`` and ``reason`` are those of a batch in which every base table changed; ``state`` says what the view's
    table stores, ``kept`` which views keep parts of the query beside it; ``str()`` shows it all.
    """

    view: str
    plan: str
    delta: str
    strategy: str
    reason: str
    detail: str
    state: str
    operators: tuple[OperatorStrategy, ...]
    sql: dict[str, str] = field(default_factory=dict)
    job: str = ""
    kept: tuple[str, ...] = ()

    def __str__(self) -> str:
        operators = "\n".join(
            f"  {item.operator}: {item.strategy}" + (f" ({item.reason}: {item.note})" if item.note else "")
            for item in self.operators
        )
        advice = "\n".join(dict.fromkeys(f"  {item.reason}: {item.advice}" for item in self.operators if item.advice))
        statements = "\n\n".join(f"-- {name}\n{text};" for name, text in self.sql.items())
        head = f"{self.view}: {self.strategy} ({self.reason})" + (f" {self.detail}" if self.detail else "")
        parts = (
            ("", head),
            ("State", self.state),
            ("Kept beside it, and maintained before it", "\n".join(f"  {name}" for name in self.kept)),
            ("Operators", operators),
            ("What would make it cheaper", advice),
            ("Plan", self.plan),
            ("Delta plan", self.delta),
            ("SQL of a batch", statements),
        )
        return "\n\n".join(f"{title}\n{body}".strip() for title, body in parts if body)


@dataclass(frozen=True, slots=True)
class Foretold:
    """A batch that was run, its seconds, and those that were predicted for its strategy (None: nothing was measured yet)."""

    number: int
    strategy: str
    changed_rows: int
    seconds: float
    predicted_seconds: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a view's next batch would be if it ran now, with the seconds predicted for either way (None: not known).

    ``changed_rows`` by table, from commit metrics; ``past``: what earlier predictions were worth, newest first.
    """

    view: str
    strategy: str
    reason: str
    detail: str
    changed_rows: dict[str, int]
    predicted_incremental_seconds: float | None
    predicted_full_seconds: float | None
    past: tuple[Foretold, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewStatus:
    """How a view stands. Lags compare with the newest versions of what it reads; ``lag_rows`` is taken from commit metrics.

    ``retention_left_seconds``: how long the versions that the next batch needs can still be read (None: no lag).
    """

    view: str
    group: str
    status: str
    versions: dict[str, int]
    lag_versions: dict[str, int]
    lag_rows: int
    lag_seconds: float
    last_strategy: str | None
    last_reason: str | None
    last_seconds: float | None
    last_finished_at: datetime | None
    validated: bool | None
    validated_at: datetime | None
    retention_left_seconds: float | None
    reads_as_is: bool
    location: str


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One difference between a project's SQL files and the catalogue.

    ``action``: create, replace, drop, update, unchanged, or unmanaged, for what `ivm apply` does not change.
    """

    kind: str
    name: str
    action: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of ``doctor``. ``advice`` is a command or setting that mends it."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
