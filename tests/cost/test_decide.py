"""The decision is a pure function of policy, plan and measured history."""

from __future__ import annotations

import doctest

import pytest

from ivm_core.cost import estimate
from ivm_core.cost.decide import decide
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.cost.statistics import PastBatch, Statistics
from ivm_core.errors import NotIncrementalError
from ivm_core.plan.definition import Policy

INCREMENTAL = Decision(Strategy.INCREMENTAL, Reason.LINEAR)
NO_RULE = Decision(Strategy.FULL, Reason.UNSUPPORTED_OPERATOR, "a limit")
GONE = Decision(Strategy.FULL, Reason.HISTORY_GONE, "vacuumed")


def past(*seconds: tuple[bool, float], rows: int = 100) -> Statistics:
    """Past batches, newest first, all of the size of the batch at hand."""
    count = len(seconds)
    batches = (PastBatch(full, rows, s, number=count - ago) for ago, (full, s) in enumerate(seconds))
    return Statistics(tuple(batches), changed_rows=rows)


SLOW_INCREMENTAL = past((False, 9.0), (False, 8.0), (True, 5.0))


@pytest.mark.parametrize(
    ("policy", "incremental", "statistics", "forced", "strategy", "reason"),
    [
        (Policy.AUTO, INCREMENTAL, Statistics(), None, "incremental", "linear"),
        (Policy.AUTO, INCREMENTAL, past((False, 1.0), (False, 1.0), (True, 5.0)), None, "incremental", "linear"),
        (Policy.AUTO, INCREMENTAL, SLOW_INCREMENTAL, None, "full", "cheaper"),
        (Policy.INCREMENTAL, INCREMENTAL, SLOW_INCREMENTAL, None, "incremental", "linear"),
        # One measurement may have been of a cold session: soon tried again, but not at once.
        (Policy.AUTO, INCREMENTAL, past((False, 7.0), (True, 5.0)), None, "full", "cheaper"),
        (Policy.AUTO, INCREMENTAL, past(*[(True, 5.0)] * 2, (False, 7.0), (True, 5.0)), None, "incremental", "linear"),
        (Policy.AUTO, INCREMENTAL, past((False, 30.0), (True, 5.0)), None, "full", "cheaper"),
        (Policy.AUTO, INCREMENTAL, past((False, 5.0), (False, 5.0), (True, 5.5)), None, "full", "cheaper"),
        (Policy.AUTO, INCREMENTAL, past((False, 5.0), (False, 5.0), (True, 7.0)), None, "incremental", "linear"),
        # Under a quarter of a second there is nothing to gain.
        (Policy.AUTO, INCREMENTAL, past((False, 0.2), (False, 0.2), (True, 0.1)), None, "incremental", "linear"),
        (Policy.AUTO, INCREMENTAL, past((False, 0.5), (False, 0.5), (True, 0.3)), None, "full", "cheaper"),
        (Policy.AUTO, INCREMENTAL, past((False, 0.9), (False, 0.9), (True, 0.5)), None, "full", "cheaper"),
        (Policy.FULL, INCREMENTAL, Statistics(), None, "full", "policy"),
        (Policy.AUTO, NO_RULE, Statistics(), None, "full", "unsupported_operator"),
        (Policy.INCREMENTAL, INCREMENTAL, Statistics(), GONE, "full", "history_gone"),
        (Policy.AUTO, INCREMENTAL, Statistics((PastBatch(True, 0, 5.0),), 400_000, 1_000_000), None, "full", "cheaper"),
        (
            Policy.AUTO,
            INCREMENTAL,
            Statistics((PastBatch(True, 0, 5.0),), 4_000, 1_000_000),
            None,
            "incremental",
            "linear",
        ),
        # So few rows are quickly worked through, though they are much of a small table.
        (Policy.AUTO, INCREMENTAL, Statistics((PastBatch(True, 0, 5.0),), 4_000, 5_000), None, "incremental", "linear"),
        # A job of a thousand parts is planned for longer than a small query runs, whatever its rows: not even tried.
        (Policy.AUTO, INCREMENTAL, Statistics((PastBatch(True, 0, 0.5),), 4, None, 1000.0), None, "full", "cheaper"),
        (
            Policy.AUTO,
            INCREMENTAL,
            Statistics((PastBatch(True, 0, 50.0),), 4, None, 1000.0),
            None,
            "incremental",
            "linear",
        ),
        (
            Policy.AUTO,
            INCREMENTAL,
            Statistics((PastBatch(True, 0, 0.5),), 4, None, 60.0),
            None,
            "incremental",
            "linear",
        ),
        (
            Policy.INCREMENTAL,
            INCREMENTAL,
            Statistics((PastBatch(True, 0, 0.5),), 4, None, 1000.0),
            None,
            "incremental",
            "linear",
        ),
    ],
)
def test_decisions(policy, incremental, statistics, forced, strategy, reason):
    decision = decide(policy, incremental, statistics, forced)
    assert (decision.strategy, decision.reason) == (strategy, reason)


TWO = ((False, 9.0), (False, 9.0))


def chosen(*seconds: tuple[bool, float]) -> Strategy:
    return decide(Policy.AUTO, INCREMENTAL, past(*seconds)).strategy


def test_what_seems_slower_is_tried_again_the_more_rarely_the_slower_it_was():
    assert chosen(*[(True, 8.0)] * 4, *TWO) is Strategy.INCREMENTAL  # a tenth slower, once in four
    assert chosen(*[(True, 8.0)] * 3, *TWO) is Strategy.FULL
    assert chosen(*[(True, 4.5)] * 28, *TWO) is Strategy.FULL
    assert chosen(*[(True, 4.5)] * 36, *TWO) is Strategy.INCREMENTAL  # twice as slow
    assert chosen(*[(True, 4.5)] * 5, (False, 9.0)) is Strategy.INCREMENTAL  # by one measurement
    refreshed = ((True, 11.0), (True, 11.0))
    assert chosen(*[(False, 9.0)] * 7, *refreshed) is Strategy.INCREMENTAL
    assert chosen(*[(False, 9.0)] * 8, *refreshed) is Strategy.FULL
    refreshed = ((True, 12.0), (True, 12.0))
    assert chosen(*[(False, 5.0)] * 99, *refreshed) is Strategy.INCREMENTAL  # much slower: not for trying's sake


def test_a_batch_far_smaller_than_any_measured_is_tried():
    large = tuple(PastBatch(False, 100_000, 9.0, number=number) for number in (3, 2))
    refreshed = tuple(PastBatch(True, 0, 2.0, number=number) for number in (5, 4))
    smaller = decide(Policy.AUTO, INCREMENTAL, Statistics((*refreshed, *large), 9_000))
    assert smaller.strategy is Strategy.INCREMENTAL and smaller.predicted_incremental_seconds > 2.0
    assert decide(Policy.AUTO, INCREMENTAL, Statistics((*refreshed, *large), 11_000)).strategy is Strategy.FULL


@pytest.mark.parametrize(
    ("seconds", "of_this_size", "strategy"),
    [
        (2.6, 1, "full"),
        (3.5, 1, "full"),
        (3.5, 0, "incremental"),  # nothing but the line through smaller ones: 2.4 s
    ],
)
def test_a_size_that_was_never_measured_is_tried_where_it_seems_a_little_slower(seconds, of_this_size, strategy):
    small = tuple(PastBatch(False, 100_000, 0.7, number=number) for number in (6, 5, 4, 3, 2))
    large = tuple(PastBatch(False, 700_000, seconds, number=9 - ago) for ago in range(of_this_size))
    refreshed = tuple(PastBatch(True, 0, 2.2, number=number) for number in (1, 0))
    now = Statistics((*large, *small, *refreshed), 600_000, 7_500_000)
    assert decide(Policy.AUTO, INCREMENTAL, now).strategy == strategy


def test_of_two_ways_that_seem_alike_the_one_is_taken_that_was_never_measured_at_this_size():
    small = tuple(PastBatch(False, 100_000, 0.9, number=number) for number in (6, 5, 4, 3))
    large = (PastBatch(False, 700_000, 4.3, number=7),)
    refreshed = (PastBatch(True, 0, 4.6, number=2),)
    new = decide(Policy.AUTO, INCREMENTAL, Statistics((*small, *refreshed), 600_000, 6_000_000))
    assert new.strategy is Strategy.INCREMENTAL and 4.0 < new.predicted_incremental_seconds < 4.6
    known = decide(Policy.AUTO, INCREMENTAL, Statistics((*large, *small, *refreshed), 600_000, 6_000_000))
    assert known.strategy is Strategy.FULL and known.predicted_incremental_seconds < known.predicted_full_seconds


@pytest.mark.parametrize(("incremental", "forced"), [(NO_RULE, None), (INCREMENTAL, GONE)])
def test_strict_fails_rather_than_full(incremental, forced):
    with pytest.raises(NotIncrementalError, match="incremental_strict"):
        decide(Policy.INCREMENTAL_STRICT, incremental, Statistics(), forced)


def test_a_larger_batch_is_predicted_to_take_longer_and_a_smaller_one_to_take_less():
    measured = (*past((False, 2.0), (False, 2.0), rows=10_000).past, PastBatch(True, 0, 8.0))

    def seconds(rows: int) -> float:
        return estimate.incremental_seconds(Statistics(measured, rows, base_rows=1_000_000))

    # Until measured, a tenth of the tables' rows are taken for a refresh more, and some of what was measured for rows.
    assert seconds(10_000) == pytest.approx(2.0, rel=0.05)
    assert 8.0 < seconds(110_000) < 16.0
    assert 0.5 < seconds(100) < 1.5


def test_measured_sizes_tell_how_a_batch_grows():
    flat = tuple(PastBatch(False, rows, seconds) for rows, seconds in ((100_000, 2.2), (1_000, 2.0)) * 3)
    measured = (*flat, PastBatch(True, 0, 8.0))
    assert estimate.incremental_seconds(Statistics(measured, 100_000, 1_000_000)) == pytest.approx(2.2, abs=0.1)
    noise = tuple(PastBatch(False, rows, seconds) for rows, seconds in ((1_200, 2.4), (1_000, 2.0)) * 3)
    measured = (*noise, PastBatch(True, 0, 8.0))
    assert estimate.incremental_seconds(Statistics(measured, 100_000, 1_000_000)) < 20.0


def test_a_batch_of_unknown_size_tells_nothing_beside_others():
    restored = PastBatch(False, 0, 9.0)
    known = past((False, 2.0), (False, 2.0)).past
    assert estimate.incremental_seconds(Statistics((restored, *known), 100)) == pytest.approx(2.0, rel=0.05)
    assert estimate.incremental_seconds(Statistics((restored,), 100)) == pytest.approx(9.0, rel=0.05)


def test_the_examples_in_the_text_hold():
    assert doctest.testmod(estimate).failed == 0


def test_a_batch_of_more_parts_is_expected_to_take_longer() -> None:
    past = (PastBatch(False, 100, 5.0, work=10.0), PastBatch(False, 100, 5.0, work=10.0), PastBatch(True, 0, 8.0))
    few = decide(Policy.AUTO, INCREMENTAL, Statistics(past, 100, None, work=10.0))
    many = decide(Policy.AUTO, INCREMENTAL, Statistics(past, 100, None, work=30.0))
    assert (few.strategy, many.strategy) == (Strategy.INCREMENTAL, Strategy.FULL)
    assert many.predicted_incremental_seconds == pytest.approx(9.0, rel=0.05)


def test_what_a_view_took_to_be_built_counts_until_it_is_refreshed() -> None:
    built = PastBatch(True, 0, 9.0, first_build=True)
    assert estimate.full_seconds(Statistics((built,))) == 9.0
    assert estimate.full_seconds(Statistics((PastBatch(True, 0, 2.0), PastBatch(False, 5, 3.0), built))) == 2.0


def test_a_far_larger_batch_is_not_held_for_slow_because_building_the_view_was() -> None:
    # Q01 at SF 1: nine seconds in a cold session, six in a warm one; batches of 120,000 rows, and then one of 600,000.
    built, batch = PastBatch(True, 0, 9.0, first_build=True), PastBatch(False, 120_000, 1.3, 3.0)
    now = Statistics((batch, batch, batch, built), 600_000, 6_000_000, 3.0)
    assert decide(Policy.AUTO, INCREMENTAL, now).strategy is Strategy.INCREMENTAL
    refreshed = Statistics((PastBatch(True, 0, 6.0, number=5), *now.past), 600_000, 6_000_000, 3.0)
    assert estimate.row_seconds(now) < estimate.row_seconds(refreshed)


def test_a_refresh_is_tried_once_where_only_building_the_view_tells_what_it_takes() -> None:
    built, batch = PastBatch(True, 0, 9.0, first_build=True), PastBatch(False, 100, 6.0)

    def after(*past: PastBatch, base_rows: int | None = None) -> Strategy:
        return decide(Policy.AUTO, INCREMENTAL, Statistics(past, 100, base_rows)).strategy

    assert after(batch, built) is Strategy.INCREMENTAL  # of a cold session, perhaps
    assert after(batch, batch, built) is Strategy.FULL
    assert after(PastBatch(True, 0, 9.5), batch, batch, built) is Strategy.INCREMENTAL
    assert after(PastBatch(True, 0, 4.0), batch, batch, built) is Strategy.FULL
    fast = PastBatch(False, 100, 3.0)
    assert after(fast, fast, built) is Strategy.INCREMENTAL  # a third of what it took to build it
    near = tuple(PastBatch(False, 100, 4.8, number=number) for number in range(9, 1, -1))
    built_first = PastBatch(True, 0, 9.0, first_build=True, number=1)
    assert after(*near[-3:], built_first) is Strategy.INCREMENTAL
    assert after(*near, built_first) is Strategy.FULL  # after so many batches a try costs little
    assert after(fast, fast, built, base_rows=1_000_000) is Strategy.INCREMENTAL
    assert after(fast, fast, built, base_rows=5_000) is Strategy.FULL  # the session was cold, most likely
    faster = PastBatch(False, 100, 0.8)
    assert (
        after(faster, faster, built, base_rows=5_000) is Strategy.INCREMENTAL
    )  # but it may be a query that takes so long
