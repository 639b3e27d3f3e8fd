"""Bind exact versions: from where a view stands and where the cut ends, the range of every base table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ivm_core.batch.classify import classify
from ivm_core.batch.model import Batch, Commit, CommitClass, Cut, TableRange


def bind_ranges(
    from_versions: Mapping[str, int],
    cut: Cut,
    commits: Mapping[str, tuple[Commit, ...]],
) -> tuple[TableRange, ...]:
    """The ranges (from, to] of the tables in ``from_versions``, sorted by name.

    A table that the cut places before the view stays where the view is: a batch never goes back. ``commits`` holds
    each table's commits; where the log no longer tells all of them, the range counts as mutating.
    """
    ranges = []
    for table, start in sorted(from_versions.items()):
        target = cut.of(table)
        if target is None:
            raise ValueError(f"the cut has no version of {table}")
        end = max(start, target.version)
        ranges.append(TableRange(table, target.table_id, start, end, range_class(commits.get(table, ()), start, end)))
    return tuple(ranges)


def range_class(commits: Iterable[Commit], start: int, end: int) -> CommitClass:
    """The class of the versions (start, end], mutating where a commit of them is unknown."""
    if start >= end:
        return CommitClass.NOOP
    known = [commit for commit in commits if start < commit.version <= end]
    found = classify(known)
    if len({commit.version for commit in known}) == end - start or found is CommitClass.REPLACED:
        return found
    return CommitClass.MUTATING


def bind_batch(view: str, last_number: int, fingerprint: str, ranges: tuple[TableRange, ...]) -> Batch:
    """The batch after ``last_number`` (0: none yet)."""
    return Batch(view, last_number + 1, ranges, fingerprint)
