"""Compare a view with its defining query at pinned versions, as bags, in Spark."""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp

from ivm_core.apply.names import col, named, number
from ivm_core.batch.model import Batch
from ivm_core.engine.bindings import Bindings
from ivm_core.engine.changes import ChangeCache
from ivm_core.engine.commit import typed_failures
from ivm_core.engine.execute import run
from ivm_core.engine.inputs import Sources, bind_snapshot
from ivm_core.engine.instants import fill, instants_of
from ivm_core.engine.model import STATE_TABLE, CommitTag, Relation, StateTarget
from ivm_core.engine.shown_rows import shown_rows
from ivm_core.engine.snapshots import quoted
from ivm_core.engine.tables import remove_table
from ivm_core.job.model import MaintenanceJob
from ivm_core.plan.comparable import as_comparable
from ivm_core.plan.dialect import SparkAsWritten
from ivm_core.plan.types import holds_variants
from ivm_core.settings import Settings
from ivm_core.validate.bag_difference import COPIES, bag_difference, count_difference
from ivm_core.validate.model import DifferingRow, ValidationReport
from ivm_core.validate.sample import sample_condition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ABOVE_ZERO = exp.GT(this=col(COPIES), expression=number(0)).sql("spark")
_BELOW_ZERO = exp.LT(this=col(COPIES), expression=number(0)).sql("spark")
_EXPECTED, _ACTUAL, _STATE, _FOUND = "expected", "actual", "query state", "view state"
_EXPECTED_STATE, _ACTUAL_STATE = "expected state", "actual state"
_FLOATING = ("double", "float")


def compare(
    spark: SparkSession,
    name: str,
    view: Relation,
    state_version: int,
    job: MaintenanceJob,
    visible_sql: str,
    batch: Batch,
    relations: Mapping[str, Relation],
    settings: Settings,
    *,
    measure_full: bool = False,
    approximate: Collection[str] | None = None,
    approximate_in_state: Collection[str] = (),
    share: float = 1.0,
    keys: Collection[str] = (),
) -> ValidationReport:
    """Compare the view's rows at ``state_version`` with what its full ``job`` computes at the batch's end versions.

    ``measure_full``: the job's result is first written as a table of its own, like a full refresh, and timed; the
    comparison reads that table. ``approximate``: columns that come from floating-point sums, whose order no query fixes
    (None: any DOUBLE or FLOAT column may); where they differ exactly, they are compared with a tolerance.
    ``approximate_in_state``: the same of the state's columns. Where the rows that are shown still differ, the state's are
    compared so: of sums whose last digits differ a text, a rounded number or a HAVING may show quite another value.
    ``share``: how much to compare, by the hash of the state's ``keys``, or of its columns where it has none. A view whose
    rows depend on other rows of the state, and a state without columns fit for it, are compared whole. Raises
    HistoryGone where one of the versions can no longer be read, QueryFails where the query has no result.
    """
    started, coverage = time.monotonic(), 1.0
    full_seconds = None
    with typed_failures(view.location), ChangeCache(spark, settings) as cache:
        cache.snapshots.leave_to_spark()
        bindings = cache.bindings
        scratch = _scratch_location(settings, name)
        try:
            if measure_full:
                begun = time.monotonic()
                applied = run(
                    spark,
                    job,
                    batch,
                    relations,
                    StateTarget(name, scratch, ()),
                    cache,
                    CommitTag("scratch", 1),
                    settings,
                )
                full_seconds = time.monotonic() - begun
                stored = cache.snapshots.stored(scratch, applied.state_version)
            else:
                stored = _compute(bindings, job, Sources(batch, relations, cache))
            found, condition = None, None
            if share < 1 and view.row_wise:
                found = cache.snapshots.stored(view.location, state_version)
                condition = _sampled(stored, found, keys, share, batch.number)
            if found is not None and condition is not None:
                coverage, stored, found = share, stored.where(condition), found.where(condition)
                bindings.bind(_FOUND, found)
                view_side = bindings.run(visible_sql, {STATE_TABLE: bindings.view(_FOUND)})
            else:
                visible = (quoted(name) for name, _ in view.columns)
                view_side = cache.snapshots.read(view, state_version).select(*visible)
            bindings.bind(_STATE, stored)
            query_side = bindings.run(visible_sql, {STATE_TABLE: bindings.view(_STATE)})
            bindings.bind(_EXPECTED, _comparable(query_side, view.columns))
            bindings.bind(_ACTUAL, _comparable(view_side, view.columns))
            outcome = _judge(bindings, view_side.dtypes, approximate, settings.limits.sample_rows)
            if not outcome.same and approximate_in_state and view.row_wise:
                found = cache.snapshots.stored(view.location, state_version) if found is None else found
                outcome = _unless_alike(bindings, stored, found, approximate_in_state, outcome)
        finally:
            if measure_full:
                remove_table(spark, scratch)
    return ValidationReport(
        view=name,
        ok=outcome.same,
        missing=outcome.missing,
        unexpected=outcome.unexpected,
        missing_count=outcome.missing_count,
        unexpected_count=outcome.unexpected_count,
        rows=outcome.rows,
        versions=batch.to_versions,
        seconds=time.monotonic() - started,
        full_seconds=full_seconds,
        coverage=coverage,
    )


def _sampled(query: DataFrame, found: DataFrame, keys: Collection[str], share: float, salt: int) -> str | None:
    """The condition that takes the same sample of both states; None where there is none that would."""
    types = dict(query.dtypes)
    if any(dict(found.dtypes).get(name) != type_ for name, type_ in types.items()):
        return None  # values of two types may be equal and hash differently
    condition = sample_condition(types, keys, share, salt)
    return None if condition is None else condition.sql("spark")


def _compute(bindings: Bindings, job: MaintenanceJob, sources: Sources) -> DataFrame:
    """The result of a full job's steps, without writing it."""
    for item in job.inputs:
        bind_snapshot(bindings, item, sources, {}, 0)
    for step in job.steps:
        query = fill(sqlglot.parse_one(step.sql, read=SparkAsWritten), instants_of(sources.batch))
        bindings.bind(step.name, bindings.run(query))
    return bindings.frame(job.write.step).select(*(quoted(column) for column in job.write.columns))


@dataclass(frozen=True, slots=True)
class _Outcome:
    rows: int
    missing_count: int
    unexpected_count: int
    missing: tuple[DifferingRow, ...] = ()
    unexpected: tuple[DifferingRow, ...] = ()

    @property
    def same(self) -> bool:
        return self.missing_count == 0 and self.unexpected_count == 0


def _comparable(rows: DataFrame, columns: tuple[tuple[str, str], ...]) -> DataFrame:
    """Columns with a VARIANT as text and type: Spark compares no variants."""
    texts = {name: as_comparable(col(name), type_) for name, type_ in columns if holds_variants(type_)}
    if not texts:
        return rows
    return rows.selectExpr(*(named(texts.get(name) or col(name), name).sql("spark") for name, _ in columns))


def _judge(
    bindings: Bindings, columns: list[tuple[str, str]], approximate: Collection[str] | None, sample_rows: int
) -> _Outcome:
    names = [name for name, _ in columns]
    outcome = _difference(bindings, names, (), sample_rows)
    summed = [name for name, type_ in columns if (type_ in _FLOATING if approximate is None else name in approximate)]
    return outcome if outcome.same or not summed else _difference(bindings, names, summed, sample_rows)


def _unless_alike(
    bindings: Bindings, query: DataFrame, found: DataFrame, approximate: Collection[str], outcome: _Outcome
) -> _Outcome:
    """The outcome, without its differences where the states differ in the last digits of sums only."""
    names, types = query.columns, dict(query.dtypes)
    if any(holds_variants(type_) for type_ in types.values()) or not set(names) <= set(found.columns):
        return outcome
    bindings.bind(_EXPECTED_STATE, query)
    bindings.bind(_ACTUAL_STATE, found.select(*(quoted(name) for name in names)))
    difference = bag_difference(_EXPECTED_STATE, _ACTUAL_STATE, names, [n for n in names if n in approximate])
    return _Outcome(outcome.rows, 0, 0) if _counted(bindings, difference, _ACTUAL_STATE).same else outcome


def _difference(bindings: Bindings, columns: list[str], approximate: Collection[str], sample_rows: int) -> _Outcome:
    query = bag_difference(_EXPECTED, _ACTUAL, columns, approximate)
    outcome = _counted(bindings, query, _ACTUAL)
    if outcome.same:
        return outcome
    # Only now is the difference worth keeping: nearly always there is none.
    difference = bindings.run(query).persist()
    try:
        missing, unexpected = (_sample(difference.where(sign), sample_rows) for sign in (_ABOVE_ZERO, _BELOW_ZERO))
        return replace(outcome, missing=missing, unexpected=unexpected)
    finally:
        difference.unpersist()


def _counted(bindings: Bindings, difference: exp.Query, actual: str) -> _Outcome:
    found = bindings.run(count_difference(difference, actual)).collect()[0]
    return _Outcome(found["rows"], found["missing"], found["unexpected"])


def _sample(rows: DataFrame, limit: int) -> tuple[DifferingRow, ...]:
    taken = []
    for row in shown_rows(rows.limit(limit)):
        values = row.asDict(recursive=True)
        copies = values.pop(COPIES)
        taken.append(DifferingRow(_with_text_keys(values), abs(copies)))
    return tuple(taken)


def _with_text_keys(value: Any) -> Any:
    """The value with the keys of all maps as JSON can write them: dates, for one, as text."""
    match value:
        case dict():
            plain = (str, int, float, bool)
            return {k if isinstance(k, plain) else str(k): _with_text_keys(item) for k, item in value.items()}
        case list():
            return [_with_text_keys(item) for item in value]
        case _:
            return value


def _scratch_location(settings: Settings, name: str) -> str:
    folder = exp.to_identifier(name).name.replace("/", "_")
    return f"{settings.warehouse.rstrip('/')}/scratch/{folder}-{uuid.uuid4().hex[:8]}"  # a path would make one of two slashes
