"""Choose the strategy of one batch of one view. A pure function: everything it weighs is handed in."""

from __future__ import annotations

from ivm_core.cost.estimate import OF_BUILDING, full_seconds, incremental_seconds, is_only_built, least_seconds
from ivm_core.cost.model import Decision, Reason, Strategy
from ivm_core.cost.statistics import Statistics
from ivm_core.errors import NotIncrementalError
from ivm_core.plan.definition import Policy

# A batch that takes less is not worth choosing for: measurements are mostly start-up noise.
WORTH_CHOOSING_SECONDS = 0.25
# Without measurements: an incremental batch reads the changed rows and, in joins and groups, much of what they touch.
UNMEASURED_FRACTION = 0.3
# Fewer changed rows cost an incremental batch next to nothing, whatever share of a small table they are; and where the
# tables have no more in all, both ways are fixed cost.
FEW_ROWS = 100_000
# A batch that was never measured is not tried where its parts alone are expected to take so many full refreshes.
HOPELESS = 4.0
# What building a view took says little of a refresh: the session was cold, the tables were smaller. Where batches take
# more than this part of it, one refresh is tried, once there are so many of them to compare it with; of small tables, which a
# warm session reads in no time, also where building took so many times as long as a batch.
ENOUGH, OF_SMALL_TABLES = 2, 10.0
# Data and clusters change, so the way that seems slower is tried again now and then: so rarely that all such tries take no
# more than this part of the batches between them; and a refresh only where it seems at most NEAR times as long.
TRIES_SHARE = 0.03
# Where it was measured once only, of a larger one: one measurement may mislead for long.
TRIES_SHARE_ONCE = 0.2
# A batch so many times smaller than any that was measured is tried: the line through larger ones tells little of it.
FAR_SMALLER = 10
# Sizes within so many times of each other are about the same. A batch of a size that was never measured is tried where it
# seems at most NEAR times as long as a refresh.
SAME_SIZE, NEAR = 3, 1.25


def decide(
    policy: Policy,
    incremental: Decision,
    statistics: Statistics,
    must_be_full: Decision | None = None,
) -> Decision:
    """The decision for a batch that has changes.

    ``incremental``: how the batch would be incremental (strategy INCREMENTAL or AFFECTED, and why), or a FULL decision
    where an operator has no rule. ``must_be_full``: set where the batch cannot be incremental whatever the query (history
    gone, table replaced, …). Raises NotIncrementalError for ``incremental_strict`` where the outcome would be full.
    """
    forced = must_be_full or (incremental if incremental.strategy is Strategy.FULL else None)
    if forced is not None:
        if policy is Policy.INCREMENTAL_STRICT:
            raise NotIncrementalError(
                f"The batch cannot be incremental ({forced.reason}: {forced.detail}) and the view's policy is "
                "incremental_strict. Run `ivm refresh` once, or set ivm.refresh_policy to 'incremental' or 'auto'.",
                reason=forced.reason,
            )
        return forced
    predicted_full, predicted_incremental = full_seconds(statistics), incremental_seconds(statistics)

    def decision(chosen: Decision, detail: str) -> Decision:
        return Decision(chosen.strategy, chosen.reason, detail, predicted_incremental, predicted_full)

    if policy is Policy.FULL:
        return decision(Decision(Strategy.FULL, Reason.POLICY), "ivm.refresh_policy is 'full'")
    if policy is not Policy.AUTO or predicted_full is None:
        return decision(incremental, incremental.detail)
    cheaper = Decision(Strategy.FULL, Reason.CHEAPER)
    if predicted_incremental is None:
        against = _against_a_first_try(statistics, predicted_full)
        return decision(cheaper, against) if against else decision(incremental, incremental.detail)
    if predicted_incremental < WORTH_CHOOSING_SECONDS:
        return decision(incremental, incremental.detail)
    if predicted_full < predicted_incremental:
        slower = predicted_incremental / predicted_full
        smaller = _far_smaller(statistics) and least_seconds(statistics) < predicted_full
        new = slower < NEAR and _never_of_this_size(statistics)
        if smaller or new or _worth_trying(statistics, slower, full=False):
            return decision(incremental, incremental.detail)
        return decision(cheaper, f"predicted {predicted_full:.1f} s against {predicted_incremental:.1f} s")
    # Where no batch of this size was measured, that is the way which is not known.
    never, known_size = _never_refreshed(statistics), not _never_of_this_size(statistics)
    slower = predicted_full / predicted_incremental * (_of_building(statistics) if never else 1.0)
    if (never and slower < 1) or (slower < NEAR and known_size and _worth_trying(statistics, slower, full=True)):
        known = "a refresh was never measured" if never else f"a refresh {predicted_full:.1f} s"
        return decision(cheaper, f"tried: batches take {predicted_incremental:.1f} s, {known}")
    return decision(incremental, incremental.detail)


def _against_a_first_try(statistics: Statistics, predicted_full: float) -> str:
    """Why an incremental batch is not tried where none was measured; empty where it is."""
    least, changed, base = least_seconds(statistics), statistics.changed_rows, statistics.base_rows
    if least > HOPELESS * max(predicted_full, WORTH_CHOOSING_SECONDS):
        return f"{statistics.work:.0f} parts, at least {least:.0f} s, against {predicted_full:.1f} s"
    if changed is not None and base and changed > max(FEW_ROWS, UNMEASURED_FRACTION * base):
        return f"{changed} of {base} base rows changed"
    return ""


def _never_refreshed(statistics: Statistics) -> bool:
    """True where only building the view tells what a refresh takes, and batches enough tell what they take."""
    batches = sum(not batch.full for batch in statistics.past)
    return batches >= ENOUGH and is_only_built(statistics)


def _far_smaller(statistics: Statistics) -> bool:
    rows, measured = statistics.changed_rows or 0, _measured_sizes(statistics)
    return bool(rows and measured) and rows * FAR_SMALLER < min(measured)


def _never_of_this_size(statistics: Statistics) -> bool:
    """Whether no incremental batch of about this size was measured: the prediction is the end of a line."""
    rows, measured = statistics.changed_rows or 0, _measured_sizes(statistics)
    return bool(rows) and not any(rows <= size * SAME_SIZE and size <= rows * SAME_SIZE for size in measured)


def _measured_sizes(statistics: Statistics) -> list[int]:
    """The changed rows of the incremental batches whose size is known."""
    return [batch.changed_rows for batch in statistics.past if not batch.full and batch.changed_rows]


def _of_building(statistics: Statistics) -> float:
    """What a refresh that was never measured takes of what building took, by a cautious guess."""
    small = statistics.base_rows is not None and statistics.base_rows <= FEW_ROWS
    return 1 / OF_SMALL_TABLES if small else OF_BUILDING


def _worth_trying(statistics: Statistics, slower: float, *, full: bool) -> bool:
    """True where the way that seems so many times slower was measured so long ago that a try costs little."""
    measured = [batch for batch in statistics.past if batch.full is full]
    share = TRIES_SHARE_ONCE if len(measured) == 1 and not measured[0].first_build else TRIES_SHARE
    return bool(measured) and (statistics.past[0].number - measured[0].number) * share >= slower - 1
