"""The use cases: the only package that joins the pure stages to the adapters.

``engine`` is the facade that users hold. ``register`` creates and drops views, ``project`` keeps a folder of SQL files
and the catalogue in step, ``group`` runs the views of a group to one cut, ``view`` brings one view to it exactly once,
``rewind`` takes one back in time,
``inspect`` answers questions. ``session`` holds what they share.
"""

from ivm_core.maintain.engine import Engine
from ivm_core.maintain.model import Check, Explanation, Forecast, Foretold, OperatorStrategy, PlannedChange, ViewStatus

__all__ = ["Check", "Engine", "Explanation", "Forecast", "Foretold", "OperatorStrategy", "PlannedChange", "ViewStatus"]
