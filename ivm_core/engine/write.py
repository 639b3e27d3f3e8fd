"""How each kind of write becomes one commit: a small state is rewritten whole, a large one merged or appended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from sqlglot import exp

from ivm_core.apply import merge_groups, replace_groups
from ivm_core.apply.names import STATE
from ivm_core.engine import commit, rows_here
from ivm_core.engine.direct import DirectState
from ivm_core.engine.log_by_spark import delta_path
from ivm_core.engine.model import Applied, CommitTag, State
from ivm_core.engine.prune import key_predicate
from ivm_core.engine.queries import fetch_few, frame_of, try_fetch
from ivm_core.engine.small import HERE, SmallRelation
from ivm_core.engine.snapshots import quoted
from ivm_core.engine.split_state import Apart
from ivm_core.engine.write_bag import write_bag
from ivm_core.engine.write_directly import merge_directly
from ivm_core.engine.write_whole import write_whole
from ivm_core.job.model import RECOMPUTED_KEYS, VANISHED, Input, Step, Write, WriteKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_MORE = HERE  # rows that come in the place of others, beyond their number
MOST_BYTES = 64 * 1024**2  # of a state's files that this process holds
WHOLE_ROWS = 20_000  # rows of a state up to which telling the touched ones apart costs more than it spares
_SOURCE = "__ivm_source"
_RECOMPUTED = "__ivm_recomputed"


class UnfitError(Exception):
    """Rows of other types, or far more of them, than were shown: Spark writes them."""


class Relations(Protocol):
    """What a write needs of the run that computed its step."""

    small: dict[str, SmallRelation]
    pushdown_cap: int

    def add_inputs(self, inputs: tuple[Input, ...]) -> None: ...
    def holds(self, inputs: tuple[Input, ...]) -> bool: ...
    def define(self, name: str, query: exp.Expr) -> None: ...
    def compute(self, step: Step, *, kept: bool) -> None: ...
    def keep(self, name: str, frame: DataFrame | None = None) -> SmallRelation: ...
    def name(self, name: str, frame: DataFrame, *, few: bool = False) -> None: ...
    def view(self, name: str) -> str: ...
    def select(self, query: exp.Expr) -> DataFrame: ...
    def stored(self, location: str, version: int) -> DataFrame: ...


@dataclass(frozen=True, slots=True)
class Writing:
    """One write: the job's instruction, the state it changes and the tag of its commit.

    ``direct``: the state where it is of a kind that can be read and committed without a Spark job.
    """

    spark: SparkSession
    relations: Relations
    write: Write
    state: State
    tag: CommitTag
    replace_rows: int
    batch_number: int
    direct: DirectState | None = None

    @property
    def rewrites(self) -> bool:
        """The state is small enough to be written whole, which costs less than finding the files to touch."""
        return self.is_held(self.replace_rows)

    def is_held(self, most_rows: int) -> bool:
        """This process may hold the whole state, so many rows at most."""
        few = self.state.rows is not None and self.state.rows <= most_rows
        return few and self.replace_rows > 0 and self.state.size <= MOST_BYTES

    @property
    def goes_whole(self) -> bool:
        """The state is so small that all of it goes through the query that makes the new one."""
        return self.rewrites and (self.state.rows or 0) <= WHOLE_ROWS

    @property
    def goes_by_files(self) -> bool:
        """Of the state only files with rows that the batch may touch are written anew, which this process does."""
        return self.replace_rows > 0 and not self.goes_whole

    @property
    def merges_in_one_query(self) -> bool:
        """The batch need not be known before it is added to the state."""
        merged = self.write.kind is WriteKind.MERGE_GROUPS and self.write.recompute is None
        return merged and self.goes_whole and self.direct is not None

    def batch(self) -> SmallRelation:
        """The step that is applied."""
        return self.relations.small[self.write.step]

    def show_state(self, apart: Apart | None) -> DataFrame:
        """The stored rows, called ``STATE``; pinned, whatever is committed meanwhile. Of rows in this process those shown."""
        if self.state.version is None:
            raise ValueError(f"the state of {self.state.target.name} does not exist: only a full job can build it")
        if apart is None:
            rows = self.relations.stored(self.state.location, self.state.version)
            self.relations.name(STATE, rows)
            return rows
        rows = frame_of(self.spark, apart.shown)
        self.relations.name(STATE, rows, few=apart.shown.num_rows <= HERE)
        return rows

    def apart(self, keys: Sequence[str] = (), batch: pa.Table | None = None) -> Apart | None:
        """The stored rows in this process, None where Spark reads them.

        ``keys``: only stored rows with the ``batch``'s values of these columns matter. Where it costs less the others are
        not shown but held beside: ``replace`` leaves or puts them there.
        """
        if self.direct is None:
            return None
        apart = self.direct.apart(batch, keys) if keys and batch is not None and self.goes_by_files else None
        return self.direct.whole() if apart is None and self.rewrites else apart

    def replace(self, query: exp.Expr, apart: Apart | None) -> int | None:
        """Put the query's rows in the place of those shown; returns the version where it is known.

        Raises ``UnfitError`` where rows shown by this process cannot be written by it.
        """
        frame = self.relations.select(query)
        if apart is None or self.direct is None:
            commit.overwrite(frame, self.state, self.tag)
            return None
        rows = self.fitted(self.collect(frame, apart))
        if rows is None:
            raise UnfitError
        return self.direct.replace(apart, rows, self.tag)

    def put(self, rows: pa.Table | None, apart: Apart) -> int | None:
        """Put rows that this process made in the place of those shown; None where it made none that fit."""
        fitted = self.fitted(rows)
        return self.direct.replace(apart, fitted, self.tag) if self.direct is not None and fitted is not None else None

    def here(self, names: Sequence[str], *others: str) -> pa.Table | None:
        """The batch's rows where this process holds them: columns of the state under its types, and ``others``."""
        batch = self.batch().here
        if self.direct is None or batch is None or self.direct.has_more(self.write.columns):
            return None
        fitted = self.direct.fitted(batch, names)
        if fitted is None:
            return None
        for name in others:
            fitted = fitted.append_column(name, batch.column(name))
        return fitted

    def append(self, query: exp.Expr, rows: int, here: pa.Table | None) -> int | None:
        """Add the query's rows, ``rows`` of them, to the state; returns the version where it is known.

        ``here``: the rows, where this process has made them already.
        """
        if self.direct is not None and rows <= min(self.replace_rows, HERE):
            if here is None and (found := try_fetch(self.relations.select(query))) is not None:
                here = found[0]
            fitted = self.fitted(here)
            if fitted is not None:
                return self.direct.append(fitted, self.tag)
        commit.append(self.relations.select(query), self.state, self.tag)
        return None

    def mark(self) -> int | None:
        """Record the batch in a commit without rows; returns the version where it is known."""
        if self.direct is not None:
            return self.direct.mark(self.tag)
        commit.mark(self.spark, self.state, self.tag, self.write.columns[0])
        return None

    def collect(self, frame: DataFrame, apart: Apart, more: int = MOST_MORE) -> pa.Table | None:
        """What comes in the place of the rows shown, in this process; None where it is far more rows, or bytes."""
        most = apart.shown.num_rows + min(more, MOST_MORE)
        found = fetch_few(frame, most)
        return found[0] if found is not None else None

    def fitted(self, rows: pa.Table | None) -> pa.Table | None:
        """The rows as the state's own process writes them, None where only Spark can."""
        return self.direct.fitted(rows) if self.direct is not None and rows is not None else None

    def execute(self, statement: exp.Expr) -> None:
        """Run a MERGE on the state."""
        commit.execute(self.spark, statement, self.state, self.tag)

    def source(self, query: exp.Expr) -> str:
        """Keep a MERGE's source in memory, since MERGE reads it two or three times; returns its view's name."""
        self.relations.keep(_SOURCE, self.relations.select(query))
        return self.relations.view(_SOURCE)

    def target(self) -> exp.Table:
        """The state table as statements name it."""
        return delta_path(self.state.location)


def write(writing: Writing) -> Applied:
    """Make the commit. An incremental write counts the batch's rows, not the copies in rewritten files."""
    if writing.write.kind is WriteKind.OVERWRITE:
        return write_whole(writing)
    try:
        return _write(writing)
    except (UnfitError, pa.ArrowException):  # texts of more than 2 GiB, say; nothing is committed then
        return _write(replace(writing, direct=None))


def _write(writing: Writing) -> Applied:
    if writing.write.step not in writing.relations.small:
        applied = merge_directly(writing)
        if applied is not None:
            return applied
        writing.relations.keep(writing.write.step)
    if writing.batch().rows == 0:
        return Applied().at(writing.mark())
    match writing.write.kind:
        case WriteKind.BAG:
            return write_bag(writing)
        case WriteKind.MERGE_GROUPS:
            return _merge_groups(writing)
        case _:
            return _replace_groups(writing)


def _merge_groups(writing: Writing) -> Applied:
    instruction, batch = writing.write, writing.batch()
    apart = writing.apart(instruction.keys, batch.here)
    writing.show_state(apart)
    whole = writing.rewrites or apart is not None
    recomputed = _recompute_extremes(writing, whole)
    if whole:
        query = merge_groups.rewrite_state(instruction, STATE, instruction.step, recomputed)
        return Applied(updated=batch.rows).at(writing.replace(query, apart))
    pruning = key_predicate(batch, instruction.keys, writing.relations.pushdown_cap)
    if recomputed is None:
        source = writing.relations.view(instruction.step)
    else:
        source = writing.source(merge_groups.source_with_replaced(instruction, instruction.step, recomputed))
    writing.execute(
        merge_groups.merge_into_state(
            instruction, writing.target(), source, with_replaced=recomputed is not None, pruning=pruning
        )
    )
    return Applied(updated=batch.rows)


def _recompute_extremes(writing: Writing, whole: bool) -> str | None:
    """The groups whose stored extreme was deleted, computed anew: the relation's name, None where there are none.

    ``whole``: the rows that are shown are written anew in one query, and no MERGE reads these groups several times.
    """
    instruction, batch = writing.write, writing.batch()
    names = [column.deleted for column in instruction.merge if column.deleted]
    if instruction.recompute is None or not names or _all_null(batch, names):
        return None
    keys = merge_groups.lost_extremes(instruction, STATE, instruction.step)
    writing.relations.add_inputs(instruction.recompute_inputs)
    if whole and instruction.keys and writing.relations.holds(instruction.recompute_inputs):
        # Asking for the keys first would take as long as the one query that then writes, and prune nothing.
        writing.relations.define(RECOMPUTED_KEYS, keys)
    elif writing.relations.keep(RECOMPUTED_KEYS, writing.relations.select(keys)).rows == 0:
        return None
    writing.relations.compute(instruction.recompute, kept=False)
    if whole:
        return instruction.recompute.name  # read once
    whole = writing.relations.select(exp.select("*").from_(exp.to_table(instruction.recompute.name)))
    writing.relations.keep(_RECOMPUTED, whole)
    return _RECOMPUTED


def _all_null(relation: SmallRelation, names: list[str]) -> bool:
    if relation.here is not None:
        return all(relation.here.column(name).null_count == relation.rows for name in names)
    return bool(relation.frame.where(" OR ".join(f"{quoted(name)} IS NOT NULL" for name in names)).isEmpty())


def _replace_groups(writing: Writing) -> Applied:
    instruction, batch = writing.write, writing.batch()
    apart = writing.apart(instruction.keys, batch.here)
    here = writing.here(instruction.columns, VANISHED)
    if apart is not None and here is not None and rows_here.are_comparable(here, instruction.keys):
        version = writing.put(rows_here.groups_after(apart.shown, here, instruction.keys, VANISHED), apart)
        if version is not None:
            return Applied(updated=batch.rows).at(version)
    writing.show_state(apart)
    if writing.rewrites or apart is not None:
        query = replace_groups.rewrite_state(instruction, STATE, instruction.step)
        return Applied(updated=batch.rows).at(writing.replace(query, apart))
    pruning = key_predicate(batch, instruction.keys, writing.relations.pushdown_cap)
    source = writing.relations.view(instruction.step)
    types = batch.types()
    writing.execute(replace_groups.merge_into_state(instruction, writing.target(), source, types, pruning))
    return Applied(updated=batch.rows)
