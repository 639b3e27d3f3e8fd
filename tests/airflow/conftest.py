"""A private Airflow for these tests: its own home and database, run in child processes as a deployment runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .browser import chromium  # noqa: F401

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
sys.path.insert(0, str(ROOT / "plugins"))


def airflow_environment(home: Path) -> dict[str, str]:
    """The environment of an Airflow that sees this repository's DAGs and plugins, and none of the caller's settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AIRFLOW", "IVM_", "SPARK_"))}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__DATABASE__LOAD_DEFAULT_CONNECTIONS": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
        "GX_ANALYTICS_ENABLED": "false",
    }


def run_program(name: str, *arguments: object, environment: dict[str, str], timeout: float = 600) -> Any:
    """Run ``programs/<name>.py`` and return what it wrote as JSON to the file named by its first argument."""
    answer = Path(environment["AIRFLOW_HOME"]) / f"{name}-{os.urandom(4).hex()}.json"
    command = [sys.executable, str(PROGRAMS / f"{name}.py"), str(answer), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0 and answer.exists(), f"{done.stdout[-8000:]}\n{done.stderr[-8000:]}"
    return json.loads(answer.read_text("utf-8"))


@pytest.fixture(scope="session")
def airflow_database(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of an Airflow with a migrated database."""
    environment = airflow_environment(tmp_path_factory.mktemp("airflow"))
    migrate = [sys.executable, "-m", "airflow", "db", "migrate"]
    done = subprocess.run(migrate, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return environment


def write_manifest(path: Path, *, groups: int, views: int) -> Path:
    """Write a manifest of so many groups with so many views each; neither stands in order."""
    entries = [
        {
            "name": f"group_{number:03}",
            "schedule": "0 * * * *" if number % 2 == 0 else None,
            "views": [
                {
                    "name": f"gold.g{number:03}_view_{view:03}",
                    "depends_on": [f"gold.g{number:03}_view_{view - 1:03}"] if view else [],
                    "tables": ["shop.orders", "shop.lines"],
                    "policy": "auto",
                    "validate_every_seconds": 86400 if view % 3 == 0 else None,
                    "comment": "Profit | by nation\nand year",
                }
                for view in reversed(range(views))
            ],
        }
        for number in reversed(range(groups))
    ]
    path.write_text(json.dumps({"version": 1, "groups": entries}), "utf-8")
    return path
