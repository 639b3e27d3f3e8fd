"""Fixtures for the command line: an empty folder to work in, and a run that returns exit code and both outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ivm_core.cli import main


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def paragraph(self) -> str:
        """The error text, after checking that it is one paragraph and no traceback."""
        text = self.err.strip()
        assert text, "an error says something"
        assert len(text.splitlines()) == 1, text
        assert "Traceback" not in text
        return text


Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, empty, with no IVM_* variable set."""
    monkeypatch.chdir(tmp_path)
    for variable in ("IVM_SETTINGS", "IVM_DEBUG", "IVM_CATALOG", "IVM_WAREHOUSE"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def run(folder: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """``run("status", "--json")`` → Result."""

    def call(*arguments: str) -> Result:
        capfd.readouterr()
        code = main(arguments)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return call
