"""Ways to make a batch fast, each with a switch that turns it off for a moment: for ``ivm bench ways``, for no deployment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

from bench.deployment import Deployment
from ivm_core.engine import changes, execute, feed_files, inputs, slices, small, split_state, write, write_bag
from ivm_core.engine.both_states import BothStates
from ivm_core.engine.planning import Planning
from ivm_core.job import build, parts

Switched = Callable[[Deployment], AbstractContextManager[None]]


def _as_it_is(_: Deployment) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Switch:
    """A way by its name, ``off``: a context in which batches go without it, ``beside``: one that holds both with and without.

    ``together``: it concerns a run of all views; ``alone``: which is, without the way, a run for each view.
    """

    name: str
    way: str
    off: Switched = _as_it_is
    beside: Switched = _as_it_is
    together: bool = False
    alone: bool = False

    @contextmanager
    def turned_off(self, place: Deployment) -> Iterator[None]:
        """Inside, batches go without the way."""
        with self.beside(place), self.off(place):
            yield


@contextmanager
def _patched(*changed: tuple[Any, str, Any]) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name, value in changed:
            stack.enter_context(patch.object(owner, name, value))
        yield


def _without(*changed: tuple[Any, str, Any]) -> Switched:
    return lambda _: _patched(*changed)


@contextmanager
def _conf(key: str, value: str, place: Deployment) -> Iterator[None]:
    before = place.spark.conf.get(key, None)
    place.spark.conf.set(key, value)
    try:
        yield
    finally:
        place.spark.conf.unset(key) if before is None else place.spark.conf.set(key, before)


@contextmanager
def _limit(name: str, value: int, place: Deployment) -> Iterator[None]:
    session = place.engine._session
    before = session.settings
    limits = before.limits.model_copy(update={name: value})
    session.settings = before.model_copy(update={"limits": limits})
    try:
        yield
    finally:
        session.settings = before


def _all_columns(read: Callable[..., Any]) -> Callable[..., Any]:
    """``ChangeCache.read`` with every column of the relation: an update of columns that no view uses stays a change."""
    return lambda cache, relation, covered, _: read(cache, relation, covered, [name for name, _ in relation.columns])


def _nothing(*_: Any, **__: Any) -> None:
    return None


_HOLDERS = (changes, execute, feed_files, slices, small, split_state, write, write_bag)
_NO_LOOKING_UP = ((inputs, "_known_keys", lambda *_: {}), (inputs, "_known_bounds", lambda *_: []))
_BY_SPARK = _without((execute, "_direct", _nothing))  # states are written by MERGE, as any solution would

SWITCHES = (
    Switch(
        "keys",
        "keys of the changes, as lists and ranges, leave out files and rows of the other tables",
        _without(*_NO_LOOKING_UP),
    ),
    Switch(
        "one_scan",
        "what several terms need of a large table is read in one scan, for both of its states",
        _without((slices.Slices, "find", _nothing), (BothStates, "find", _nothing)),
    ),
    Switch(
        "columns",
        "of changes only the columns are read that views use, and updates of the others cancel",
        _without((changes.ChangeCache, "read", _all_columns(changes.ChangeCache.read))),
    ),
    Switch(
        "few_rows_here",
        "relations of up to 200,000 rows are held, netted and handed to Spark by this process",
        _without(*((holder, "HERE", 0) for holder in _HOLDERS), (changes, "NOT_LOOKED_UP", 0)),
    ),
    Switch("own_commits", "states on a local path are committed by this process, not by MERGE", _BY_SPARK),
    Switch(
        "state_bounds",
        "of a state's files those are opened whose bounds in the log may hold a key of the batch",
        _without((split_state, "may_hold", lambda files, *_, **__: [True] * files.num_rows)),
    ),
    Switch(
        "target_keys",
        "where MERGE writes: keys of the batch as a condition on the state",
        _without((write, "key_predicate", _nothing), (write_bag, "key_predicate", _nothing)),
        beside=_BY_SPARK,
    ),
    Switch(
        "small_states_whole",
        "where Spark writes: a small state is rewritten instead of MERGE",
        partial(_limit, "replace_rows", 0),
        beside=_BY_SPARK,
    ),
    Switch(
        "join_order",
        "joins begin with the largest input and go from the changes outwards, by keys and sizes, in steps",
        _without((build, "largest_first", lambda plan, _: plan), (parts, "cut_chains", lambda plan, *_: plan)),
    ),
    Switch(
        "factors",
        "what all terms of a delta join is joined once",
        _without((parts, "factor_terms", lambda plan, _: plan)),
    ),
    Switch(
        "planned_once",
        "queries over few rows are not planned again after each stage (adaptive execution off)",
        _without((Planning, "once", lambda *_: nullcontext())),
    ),
    Switch(
        "shuffle_partitions",
        "a shuffle partition for each core, not 200",
        partial(_conf, "spark.sql.shuffle.partitions", "200"),
    ),
    Switch(
        "snapshot_partitions",
        "Delta's logs are replayed in one partition, not 50",
        partial(_conf, "spark.databricks.delta.snapshotPartitions", "50"),
    ),
    Switch("one_run", "one run for all views, not a run for each", together=True, alone=True),
    Switch("in_parallel", "views of a run on idle cores", partial(_limit, "views_at_once", 1), together=True),
)
