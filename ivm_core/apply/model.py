"""What an applied batch did."""

from __future__ import annotations

from dataclasses import dataclass, field

from ivm_core.cost.model import Reason, Strategy


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """The outcome of one batch of one view, or of the finding that none was needed.

    ``rows_changed`` counts rows of the view's state that were inserted, updated or deleted; ``error`` is the
    message of a failed batch (then the view stands where it stood), ``error_code`` its ``IvmError.code`` if it has one.
    ``shared_seconds`` went, during this batch, into reading what the run's other views use as well; ``seconds`` leaves
    them out where there are others.
    """

    view: str
    strategy: Strategy
    reason: Reason
    from_versions: dict[str, int] = field(default_factory=dict)
    to_versions: dict[str, int] = field(default_factory=dict)
    rows_changed: int = 0
    seconds: float = 0.0
    batch: int = 0
    detail: str = ""
    predicted_incremental_seconds: float | None = None
    predicted_full_seconds: float | None = None
    error: str | None = None
    error_code: str | None = None
    shared_seconds: float = 0.0
