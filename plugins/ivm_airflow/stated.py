"""Users' own expectations of a run's views: taken from the manifest, judged with the validation."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ivm_airflow.manifest import read_stated

if TYPE_CHECKING:
    from ivm_core import Engine
    from ivm_core.engine.quality import Stated
    from ivm_core.validate.model import BrokenExpectation


def stated_of(engine: Engine, views: Iterable[str]) -> list[Stated]:
    """What users state of those of the views that have expectations, with the rows to judge."""
    from ivm_core.engine.quality import Stated
    from ivm_core.validate.expectations import read_expectations

    texts = read_stated()
    # A file that anybody may have written since: checked as `ivm apply` did.
    return [Stated(view, engine.read(view), read_expectations(texts[view])) for view in views if view in texts]


def broken_of(view: str, broken: Iterable[BrokenExpectation]) -> list[dict[str, Any]]:
    """What of a view's expectations does not hold, as JSON."""
    return [{**asdict(item), "columns": list(item.columns)} for item in broken if item.view == view]


def unmet(broken: Iterable[BrokenExpectation], tolerant: Collection[str]) -> list[str]:
    """The views that fail the run: a critical expectation does not hold, and the view's ``ivm.on_drift`` is not ``warn``."""
    return sorted({item.view for item in broken if item.severity == "critical" and item.view not in tolerant})
