"""Run one batch of a job: bind its inputs, compute its steps once each, and make its one commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from ivm_core.apply.names import named
from ivm_core.batch.model import Batch
from ivm_core.engine.bindings import Bindings, tables_of
from ivm_core.engine.both_states import BothStates
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.commit import typed_failures
from ivm_core.engine.direct import DirectState
from ivm_core.engine.failures import WHEN_TIDYING
from ivm_core.engine.inputs import Sources, bind_changes, bind_snapshot, bind_whole
from ivm_core.engine.instants import fill, instants_of
from ivm_core.engine.keys_here import distinct_here
from ivm_core.engine.log import TableLog
from ivm_core.engine.model import Applied, CommitTag, Relation, State, StateTarget
from ivm_core.engine.small import HERE, SmallRelation, brought_here, compute, held
from ivm_core.engine.snapshots import is_small
from ivm_core.engine.write import Writing, write
from ivm_core.engine.write_whole import may_keep_rows
from ivm_core.job.model import Input, MaintenanceJob, Slice, Step, WriteKind
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)

Progress = Callable[[str], None]


def run(
    spark: SparkSession,
    job: MaintenanceJob,
    batch: Batch,
    relations: Mapping[str, Relation],
    target: StateTarget,
    cache: ChangeCache,
    tag: CommitTag,
    settings: Settings,
    on_progress: Progress | None = None,
    changed_rows: int | None = None,
) -> Applied:
    """Apply the batch to the view's state in exactly one commit, or in none when the table already has the batch.

    ``on_progress`` is called with the name of each step, and with ``write``. ``changed_rows``: of the base tables, as
    far as known before they are read. Raises ``DriftError`` where the state cannot be right, ``ConcurrentCommit`` where
    another writer was faster; nothing is written then.
    """
    state = find_state(spark, target, tag)
    if state is None:
        return Applied(state_version=TableLog(target.location, spark).version(), skipped=True)
    whole = job.write.kind is WriteKind.OVERWRITE
    work = _Work(spark, Sources(batch, relations, cache), state, settings.limits.pushdown_cap, on_progress, whole=whole)
    few = changed_rows is not None and changed_rows <= HERE and not whole
    with typed_failures(target.location), closing(work), cache.planning.once(few):
        direct = _direct(job, state)
        writing = Writing(spark, work, job.write, state, tag, settings.limits.replace_rows, batch.number, direct)
        work.add_inputs(job.inputs)
        for step in job.steps:
            work.compute(step, kept=_is_kept(writing, job, step))
        work.report("write")
        applied = write(writing)
        return applied if applied.state_version >= 0 else _confirm(spark, applied, state, tag)


def _direct(job: MaintenanceJob, state: State) -> DirectState | None:
    """The state as this process reads and commits it, where it can and the job may keep some of what is there."""
    if state.version is None or (job.write.kind is WriteKind.OVERWRITE and not may_keep_rows(job.reason, state)):
        return None
    return DirectState.open(state.location, state.version)


def find_state(spark: SparkSession, target: StateTarget, tag: CommitTag) -> State | None:
    """The state table as it is now; None where it already has the tag's batch or a later one."""
    if not TableLog.exists(target.location, spark):
        return State(target)
    log = TableLog(target.location, spark)
    committed = log.transaction_version(tag.app_id)
    if committed is not None and committed >= tag.txn_version:
        return None
    size = log.size()
    return State(target, log.version(), size.rows, size.size_bytes)


def _is_kept(writing: Writing, job: MaintenanceJob, step: Step) -> bool:
    """A step that is written as it comes is read once: keeping it in memory would only cost."""
    if step.name == job.write.step and (job.write.kind is WriteKind.OVERWRITE or writing.merges_in_one_query):
        return sum(_mentions(other, step.name) for other in job.steps) > 0
    return step.materialize


def _mentions(step: Step, name: str) -> bool:
    return any(table.name == name for table in tables_of(sqlglot.parse_one(step.sql, read=SparkAsWritten)))


def _confirm(spark: SparkSession, applied: Applied, state: State, tag: CommitTag) -> Applied:
    """Fill in what only the log tells: the version, and whether this very run made the commit."""
    log = TableLog(state.location, spark)
    version = log.version()
    before = state.version if state.version is not None else -1
    own = [c for c in log.commits(before, version) if c.user_metadata == (tag.user_metadata or None)]
    written = dict(own[-1].metrics).get("numOutputRows", "0") if own else "0"
    return replace(
        applied,
        inserted=applied.inserted if applied.counted else int(written),
        state_version=own[-1].version if own else version,
        skipped=not own,
    )


class _Work:
    """The relations of one run under the names of its job."""

    def __init__(
        self,
        spark: SparkSession,
        sources: Sources,
        state: State,
        pushdown_cap: int,
        on_progress: Progress | None,
        *,
        whole: bool = False,
    ) -> None:
        """``whole``: the job computes the whole state."""
        self.spark = spark
        self.bindings = Bindings(spark, sources.cache.names)
        self.small: dict[str, SmallRelation] = {}
        self.report = on_progress or (lambda _: None)
        self.pushdown_cap = pushdown_cap
        self._sources = sources
        self._state = state
        self._whole = whole
        self._both_states = BothStates(spark, lambda: sources.cache.snapshots, sources.cache.changes_of)
        self._pending: dict[str, Input] = {}
        self._computed: list[SmallRelation] = []
        self._changed: dict[str, int] = {}

    def add_inputs(self, inputs: tuple[Input, ...]) -> None:
        """Inputs are opened when a step first reads them: their bounds wait for earlier steps."""
        self._pending.update({item.name: item for item in inputs})
        self._both_states.expect(inputs)

    def holds(self, inputs: tuple[Input, ...]) -> bool:
        """Whether the inputs are tables that the run reads once and keeps: bounds of values would spare nothing."""
        return all(is_small(self._sources.relation(item.table)) for item in inputs)

    def define(self, name: str, query: exp.Expr) -> None:
        """Call a query's result ``name`` without computing it."""
        self.bindings.define(name, query)

    def compute(self, step: Step, *, kept: bool) -> None:
        """Run a step's SELECT; ``kept``: once, in memory, counted."""
        self.report(step.name)
        tree = fill(sqlglot.parse_one(step.sql, read=SparkAsWritten), instants_of(self._sources.batch))
        needed = not step.when or self.small[step.when].rows > 0
        for table in tables_of(tree):
            if needed:
                self._open(table.name)
            else:
                self._leave_out(table.name)
        kept &= needed
        if kept:
            rows = distinct_here(tree, self.small)
            if rows is not None:
                self._keep_as(step.name, held(self.spark, rows))
            else:
                self.keep(step.name, self.bindings.run(tree))
        else:
            self.bindings.define(step.name, tree)

    def keep(self, name: str, frame: DataFrame | None = None) -> SmallRelation:
        """Compute a relation once, in memory, and call it ``name``; by default the one that has the name already."""
        few = sum(self._changed.values()) <= HERE
        computed = compute(self.spark, frame if frame is not None else self.bindings.frame(name), few=few)
        return self._keep_as(name, brought_here(self.spark, computed))

    def _keep_as(self, name: str, relation: SmallRelation) -> SmallRelation:
        self._computed.append(relation)
        logger.debug("%s: %d rows", name, relation.rows)
        self.small[name] = relation
        self.bindings.bind(name, lambda: relation.frame, few=relation.here is not None)
        return relation

    def name(self, name: str, frame: DataFrame, *, few: bool = False) -> None:
        """Call a relation ``name`` without computing it; ``few``: of few rows that this process holds."""
        self.bindings.bind(name, frame, few=few)

    def view(self, name: str) -> str:
        """The name of a relation that plain SQL can use."""
        return self.bindings.view(name)

    def select(self, query: exp.Expr) -> DataFrame:
        """The result of a query over the relations named so far."""
        return self.bindings.run(query)

    def stored(self, location: str, version: int) -> DataFrame:
        """A state table's rows at a version."""
        with self._sources.cache.one_reader() as cache:
            return cache.snapshots.stored(location, version)

    def close(self) -> None:
        """Release memory and names."""
        with suppress(*WHEN_TIDYING):
            for relation in self._computed:
                relation.release()
            self._both_states.close()
            self.bindings.close()

    def _leave_out(self, name: str) -> None:
        """Take an input for empty that no step has read yet: nothing needs the one that does."""
        item = self._pending.pop(name, None)
        if item is not None:
            nothing = (named(exp.cast(exp.null(), c.type, dialect="spark"), c.name) for c in item.columns)
            self.bindings.define(item.name, exp.select(*nothing).where(exp.false()))

    def _open(self, name: str) -> None:
        item = self._pending.pop(name, None)
        if item is None:
            return
        for bound in item.bounds:
            self._open(bound.step)
        if item.slice is Slice.STORED:
            assert self._state.version is not None, "only a view that was built has a state to read"
            self.name(name, self.stored(self._state.location, self._state.version))
            return
        with self._sources.cache.one_reader():
            if item.slice is Slice.CHANGES:
                self._changed[item.table] = self._sources.changes(item).rows
                self.small[name] = bind_changes(self.bindings, item, self._sources)
            elif self._whole:
                bind_whole(self.bindings, item, self._sources)
            else:
                bind_snapshot(self.bindings, item, self._sources, self.small, self.pushdown_cap, self._both_states)
