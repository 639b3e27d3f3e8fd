"""Deferred incremental view maintenance on Spark and Delta Lake.

>>> from ivm_core import Engine
>>> Engine.open(spark=spark, catalog="sqlite:///ivm.db", warehouse="warehouse")  # doctest: +SKIP

The stages, in the order in which a value passes through them: ``plan`` (SQL → plan), ``delta`` (plan → delta plan),
``cost`` (→ decision), ``job`` (→ maintenance job), ``batch`` (→ exact versions), ``apply`` (→ one commit), ``validate``
(→ comparison with a full refresh). ``catalog`` and ``engine`` are the adapters to the database and to Spark;
``maintain`` joins them.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ivm_core.apply.model import MaintenanceReport
    from ivm_core.cost.model import Reason, Strategy
    from ivm_core.errors import IvmError
    from ivm_core.maintain import Engine, Explanation, ViewStatus
    from ivm_core.plan.definition import Policy
    from ivm_core.validate.model import ValidationReport

__version__ = version("ivm-core")

__all__ = [
    "Engine",
    "Explanation",
    "IvmError",
    "MaintenanceReport",
    "Policy",
    "Reason",
    "Strategy",
    "ValidationReport",
    "ViewStatus",
    "__version__",
]

# Loaded at first use: a stage that is imported alone brings in neither Spark nor a database.
_HOMES = {
    "Engine": "ivm_core.maintain",
    "Explanation": "ivm_core.maintain",
    "IvmError": "ivm_core.errors",
    "MaintenanceReport": "ivm_core.apply.model",
    "Policy": "ivm_core.plan.definition",
    "Reason": "ivm_core.cost.model",
    "Strategy": "ivm_core.cost.model",
    "ValidationReport": "ivm_core.validate.model",
    "ViewStatus": "ivm_core.maintain",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
