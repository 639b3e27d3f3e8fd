"""What every benchmark's result must be, whatever its times: keys, equality, JSON, a page that is whole."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.bench_output import show_result, write_result
from bench.bench_result import BenchResult
from bench.deployment import Place
from bench.environment import peak_memory
from tests.bench.page import check_alone

COMMAND = "ivm bench of the tests"
KEYS = {
    "view", "strategy", "full_seconds", "incremental_seconds", "auto_seconds", "ratio", "rows_changed", "rows_read",
    "equal",
}  # fmt: skip


def check_result(result: BenchResult, place: Place) -> dict[str, Any]:
    """The result's document as read back from its file, after what holds for all benchmarks was checked."""
    assert not result.wrong, [entry for entry in result.results if not entry["equal"]]
    result = replace(result, command=COMMAND, peak_memory_mb=peak_memory())
    file, page = write_result(result, place.base)
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    assert {"machine", "software", "spark", "load_before", "started_at"} <= set(document["environment"])
    assert document["peak_memory_mb"]["python"] > 50 and document["command"] == COMMAND
    assert document["results"] and all(set(entry) >= KEYS for entry in document["results"])
    shown = check_alone(page.read_text("utf-8"))
    for entry in document["results"]:
        assert entry["view"] in shown.text
    assert COMMAND in shown.text and "peak memory" in shown.text and "Kind." not in shown.text
    show_result(result, page)
    assert {entry.name for entry in Path(place.base).iterdir()} >= {file.name, page.name}
    return document
