"""Compare a view with its defining query at pinned versions, as bags, in Spark."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f
from sqlglot import exp

from ivm_core.batch.model import Batch
from ivm_core.engine.bindings import Bindings
from ivm_core.engine.changes import ChangeCache, quoted
from ivm_core.engine.execute import run
from ivm_core.engine.inputs import Sources, open_input
from ivm_core.engine.model import STATE_TABLE, CommitTag, Relation, StateTarget
from ivm_core.engine.snapshots import shown
from ivm_core.engine.tables import remove_table
from ivm_core.job.model import MaintenanceJob
from ivm_core.settings import Settings
from ivm_core.validate.bag_difference import COPIES, bag_difference
from ivm_core.validate.model import DifferingRow, ValidationReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EXPECTED, _ACTUAL, _DIFFERENCE = "expected", "actual", "difference"


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
    approximate: frozenset[str] = frozenset(),
) -> ValidationReport:
    """Compare the view's rows at ``state_version`` with what its full ``job`` computes at the batch's end versions.

    ``measure_full``: the job's result is first written as a table of its own, like a full refresh, and timed; the
    comparison reads that table. ``approximate``: columns that come from floating-point sums, compared with a tolerance.
    """
    started = time.monotonic()
    full_seconds = None
    with ChangeCache(spark, settings) as cache:
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
            query_side = bindings.run(visible_sql, {STATE_TABLE: bindings.bind("query state", stored)})
            view_side = shown(bindings, view, cache.snapshots.stored(view.location, state_version), "view state")
            report = _report(bindings, name, query_side, view_side, approximate, settings.limits.sample_rows)
        finally:
            if measure_full:
                remove_table(spark, scratch)
    return ValidationReport(
        view=name,
        ok=report["missing"] == 0 and report["unexpected"] == 0,
        missing=report["missing_rows"],
        unexpected=report["unexpected_rows"],
        missing_count=report["missing"],
        unexpected_count=report["unexpected"],
        rows=report["rows"],
        versions=batch.to_versions,
        seconds=time.monotonic() - started,
        full_seconds=full_seconds,
    )


def _compute(bindings: Bindings, job: MaintenanceJob, sources: Sources) -> DataFrame:
    """The result of a full job's steps, without writing it."""
    for item in job.inputs:
        bindings.bind(item.name, open_input(item, sources))
    for step in job.steps:
        bindings.bind(step.name, bindings.run(step.sql))
    return bindings.frame(job.write.step).select(*(quoted(column) for column in job.write.columns))


def _report(
    bindings: Bindings,
    name: str,
    query_side: DataFrame,
    view_side: DataFrame,
    approximate: frozenset[str],
    sample_rows: int,
) -> dict[str, Any]:
    bindings.bind(_EXPECTED, query_side)
    bindings.bind(_ACTUAL, view_side)
    difference = bindings.run(bag_difference(_EXPECTED, _ACTUAL, view_side.columns, approximate)).persist()
    try:
        copies = f.col(COPIES)
        zero = f.lit(0).cast("bigint")
        counts = difference.agg(
            f.coalesce(f.sum(f.greatest(copies, zero)), zero).alias("missing"),
            f.coalesce(f.sum(f.greatest(-copies, zero)), zero).alias("unexpected"),
        ).collect()[0]
        sampled: dict[str, tuple[DifferingRow, ...]] = {"missing": (), "unexpected": ()}
        if counts["missing"] or counts["unexpected"]:
            sampled = {
                side: _sample(difference.where(condition), sample_rows)
                for side, condition in (("missing", copies > 0), ("unexpected", copies < 0))
            }
        rows = view_side.count()
    finally:
        difference.unpersist()
    return {
        "missing": counts["missing"],
        "unexpected": counts["unexpected"],
        "missing_rows": sampled["missing"],
        "unexpected_rows": sampled["unexpected"],
        "rows": rows,
    }


def _sample(rows: DataFrame, limit: int) -> tuple[DifferingRow, ...]:
    taken = []
    for row in rows.limit(limit).collect():
        values = row.asDict(recursive=True)
        copies = values.pop(COPIES)
        taken.append(DifferingRow(values, abs(copies)))
    return tuple(taken)


def _scratch_location(settings: Settings, name: str) -> str:
    folder = exp.to_identifier(name).name.replace("/", "_")
    return str(PurePosixPath(settings.warehouse, "scratch", f"{folder}-{uuid.uuid4().hex[:8]}"))
