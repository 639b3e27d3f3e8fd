"""``ivm bench`` as typed: what is refused before anything is measured, and what is written. tests/bench has the benchmarks."""

from __future__ import annotations

import json

import pytest

from bench.bench_result import BenchResult
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


def test_a_result_tells_what_was_run_and_the_memory_that_it_took(tmp_path, monkeypatch, capsys):
    typed = ["bench", "dag", "--scale", "0.01", "--out", str(tmp_path), "--json"]
    entry = {"view": "wh_gold.v", "equal": True}
    found = BenchResult(
        "dag", "A warehouse", {"percents": (1.0, 0.1)}, {"machine": "one", "started_at": "now"}, (entry,), {}, (), ()
    )
    monkeypatch.setattr("bench.run_dag.run", lambda options, place, display: found)
    monkeypatch.setattr("sys.argv", ["ivm", *typed])
    assert main(typed) == 0
    for document in (json.loads(capsys.readouterr().out), json.loads((tmp_path / "dag.json").read_text())):
        assert document["command"] == f"ivm bench dag --scale 0.01 --out {tmp_path} --json"
        assert document["peak_memory_mb"]["python"] > 50
    assert "<dd>1.0, 0.1</dd>" in (tmp_path / "dag.html").read_text()
