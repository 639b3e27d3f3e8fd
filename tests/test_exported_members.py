"""The public surface: about ten names, all documented, and nothing else."""

from __future__ import annotations

import types
from importlib.metadata import version

import ivm_core

EXPECTED = {
    "Engine",
    "Explanation",
    "IvmError",
    "MaintenanceReport",
    "Policy",
    "Reason",
    "Strategy",
    "ValidationReport",
    "__version__",
}


def test_all_names_what_users_need() -> None:
    assert set(ivm_core.__all__) >= EXPECTED
    assert len(ivm_core.__all__) <= 12
    assert list(ivm_core.__all__) == sorted(ivm_core.__all__)


def test_every_public_name_is_exported() -> None:
    members = {
        name
        for name, value in vars(ivm_core).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType) and name != "annotations"
    }
    assert members <= set(ivm_core.__all__)


def test_exported_names_are_documented() -> None:
    for name in ivm_core.__all__:
        value = getattr(ivm_core, name)
        if name != "__version__":
            assert value.__doc__, name


def test_version_is_the_installed_one() -> None:
    assert ivm_core.__version__ == version("ivm-core")
