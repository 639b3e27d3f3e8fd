"""``ivm bench chooser`` in the small, and how its picks are judged: function, never time."""

from __future__ import annotations

import pytest

from bench.changes import Kind
from bench.chooser_report import describe, judge
from bench.demo_display import Display
from bench.deployment import Place
from bench.meter import Cost
from bench.points import Point, points_of
from bench.run_chooser import ChooserOptions, run
from bench.ways import AUTO, FULL, INCREMENTAL, Trial
from tests.bench.benches import check_result


def point(full: float, incremental: float, *picks: str) -> Point:
    costs = {FULL: Cost(full), INCREMENTAL: Cost(incremental), AUTO: Cost(incremental)}
    return Point(tuple(Trial("t.v", 1.0, "RF1", 1.0, costs, pick) for pick in picks))


@pytest.mark.parametrize(
    ("full", "incremental", "picks", "right", "regret"),
    [
        (8.0, 2.0, ("incremental", "affected"), 2, 0.0),
        (8.0, 2.0, ("incremental", "full"), 1, 6.0),
        (2.0, 8.0, ("incremental", "full", "incremental"), 1, 12.0),
        (2.0, 8.0, ("full",), 1, 0.0),
        (2.0, 2.05, ("incremental",), 1, 0.05),  # as good as the other, and still not for nothing
        (5.0, 0.01, ("noop",), 1, 0.0),
    ],
)
def test_judges_by_what_was_measured(
    full: float, incremental: float, picks: tuple[str, ...], right: int, regret: float
) -> None:
    found = judge(point(full, incremental, *picks))
    assert found is not None
    assert (found.right, found.regret) == (right, pytest.approx(regret))


def test_sums_up() -> None:
    trials = (*point(8.0, 2.0, "full", "incremental").trials, Trial("t.w", 1.0, "RF1", 1.0, {}, equal=False, error="x"))
    result = describe({"scale": 1.0}, {}, points_of(trials), {})
    assert (result.summary["decisions"], result.summary["right"], result.summary["regret_seconds"]) == (2, 1, 6.0)
    assert result.summary["regret_share"] == pytest.approx(1.5)
    assert result.wrong == ("t.w",)


@pytest.mark.spark
@pytest.mark.slow
def test_one_view_after_two_kinds_of_change(place: Place) -> None:
    options = ChooserOptions(0.002, (Kind.RF1, Kind.RF3), (2.0,), ("q06",), repeats=1)
    document = check_result(run(options, place, Display(quiet=True)), place)
    assert document["summary"]["decisions"] == 2
    assert {(entry["change"], entry["percent"]) for entry in document["results"]} == {("RF1", 2.0), ("RF3", 2.0)}
