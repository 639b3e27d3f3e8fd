"""The public surface: about ten names, all documented, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

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


def test_nothing_else_is_shown() -> None:
    assert dir(ivm_core) == sorted(ivm_core.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = ivm_core.nosuch


def test_a_stage_brings_in_neither_spark_nor_a_database() -> None:
    program = "import sys, ivm_core.job.model, ivm_core.cli; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"pyspark", "sqlalchemy", "deltalake", "sqlglot", "ivm_core.maintain"}
    assert not heavy & set(done.stdout.split())


def test_exported_names_are_documented() -> None:
    for name in ivm_core.__all__:
        value = getattr(ivm_core, name)
        if name != "__version__":
            assert value.__doc__, name


def test_version_is_the_installed_one() -> None:
    assert ivm_core.__version__ == version("ivm-core")
