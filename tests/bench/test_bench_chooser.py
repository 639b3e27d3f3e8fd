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
from bench.ways import AUTO, FULL, INCREMENTAL, MIXED, NOTHING, Trial
from tests.bench.benches import check_result


def trial(full: float, incremental: float, auto: float, pick: str, *parts: str) -> Trial:
    costs = {FULL: Cost(full), INCREMENTAL: Cost(incremental), AUTO: Cost(auto)}
    return Trial("t.v", 1.0, "RF1", 1.0, costs, pick, parts=parts)


def point(full: float, incremental: float, *picks: str) -> Point:
    return Point(tuple(trial(full, incremental, full if pick == FULL else incremental, pick) for pick in picks))


@pytest.mark.parametrize(
    ("full", "incremental", "picks", "right", "regret"),
    [
        (8.0, 2.0, ("incremental", "affected"), 2, 0.0),
        (8.0, 2.0, ("incremental", "full"), 1, 6.0),
        (2.0, 8.0, ("incremental", "full", "incremental"), 1, 12.0),
        (2.0, 8.0, ("full",), 1, 0.0),
        (2.0, 2.05, ("incremental",), 1, 0.05),  # as good as the other, and still not for nothing
        (5.0, 0.01, ("noop", "incremental"), 1, 0.0),  # where nothing changed there is nothing to decide
    ],
)
def test_judges_by_what_was_measured(
    full: float, incremental: float, picks: tuple[str, ...], right: int, regret: float
) -> None:
    found = judge(point(full, incremental, *picks))
    assert found is not None
    assert (found.right, found.regret) == (right, pytest.approx(regret))


@pytest.mark.parametrize(
    ("strategy", "parts", "pick"),
    [
        ("affected", (), INCREMENTAL),
        ("full", (), FULL),
        ("full", ("full", "noop"), FULL),
        ("full", ("incremental",), MIXED),
        ("affected", ("full", "incremental"), MIXED),
        ("noop", ("noop",), NOTHING),
        ("noop", ("incremental",), INCREMENTAL),
    ],
)
def test_a_pick_is_that_of_the_view_and_of_its_auxiliaries(strategy: str, parts: tuple[str, ...], pick: str) -> None:
    assert trial(1.0, 1.0, 1.0, strategy, *parts).pick == pick


def test_a_refresh_of_some_auxiliaries_is_a_way_of_its_own() -> None:
    found = judge(
        Point(
            (
                trial(4.0, 5.0, 2.0, "affected", "full"),
                trial(4.0, 5.0, 2.2, "affected", "full"),
                trial(4.0, 5.0, 5.0, "affected"),
            )
        )
    )
    assert found is not None
    assert dict(found.ways) == {FULL: 4.0, INCREMENTAL: 5.0, MIXED: 2.1}
    assert (found.right, found.regret, found.best) == (2, pytest.approx(2.9), pytest.approx(6.3))


def test_a_refresh_counts_with_autos_own_seconds_where_they_are_fewer() -> None:
    found = judge(Point((trial(4.0, 3.0, 2.0, "full"), trial(4.0, 3.0, 3.0, "incremental"))))
    assert found is not None
    assert (found.right, found.regret, found.best) == (1, pytest.approx(1.0), pytest.approx(4.0))


def test_a_refresh_that_took_longer_than_plain_sparks_is_right_and_costs_what_it_took() -> None:
    found = judge(Point((trial(1.0, 1.5, 3.0, "full"), trial(1.0, 1.5, 1.5, "incremental"))))
    assert found is not None
    assert (found.right, found.regret, found.best) == (1, pytest.approx(2.5), pytest.approx(2.0))


def test_what_failed_or_had_nothing_to_do_is_no_decision() -> None:
    failed = Trial("t.v", 1.0, "RF1", 1.0, {}, equal=False, error="x")
    found = judge(Point((failed, *point(8.0, 2.0, "full", "noop").trials)))
    assert found is not None and (found.decisions, found.right) == (1, 0)
    assert judge(Point((failed, *point(8.0, 2.0, "noop").trials))) is None


def test_sums_up() -> None:
    trials = (*point(8.0, 2.0, "full", "incremental").trials, Trial("t.w", 1.0, "RF1", 1.0, {}, equal=False, error="x"))
    result = describe({"scale": 1.0}, {}, points_of(trials), {})
    assert (result.summary["decisions"], result.summary["right"], result.summary["regret_seconds"]) == (2, 1, 6.0)
    assert result.summary["regret_share"] == pytest.approx(1.5)
    assert result.wrong == ("t.w",)


@pytest.mark.spark
def test_one_view_after_two_kinds_of_change(place: Place) -> None:
    options = ChooserOptions(0.002, (Kind.RF1, Kind.RF3), (2.0,), ("q06",), repeats=1)
    document = check_result(run(options, place, Display(quiet=True)), place)
    assert document["summary"]["decisions"] == 2
    assert {(entry["change"], entry["percent"]) for entry in document["results"]} == {("RF1", 2.0), ("RF3", 2.0)}
