"""``ivm bench`` as typed: what is refused before anything is measured. The benchmarks are tested in tests/bench."""

from __future__ import annotations

import json

import pytest

from ivm_core.cli.app import main


@pytest.mark.parametrize(
    "arguments",
    [
        ("tpch", "--change", "RF9"),
        ("tpch", "--percent", "51"),
        ("scale", "--sf", "0"),
        ("floor", "--repeat", "0"),
        ("trickle", "--upkeep", "perhaps"),
        ("dag", "--percent", "60"),
        ("chooser", "--change", "RF0"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *arguments, "--json"]) == 64
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "USAGE"


def test_no_such_view(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "tpch", "--views", "q99", "--out", str(tmp_path), "--json"]) == 8
    assert "q99" in json.loads(capsys.readouterr().out)["error"]["message"]
