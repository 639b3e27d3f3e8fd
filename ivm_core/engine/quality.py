"""Adapter: Great Expectations judges validation reports and publishes them as Data Docs.

The comparison itself is made in Spark; here its findings become two batches: a summary (one row a view) and the
differing rows. Great Expectations states what must hold of them, keeps every run and renders the pages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from ivm_core.validate.model import DifferingRow, ValidationReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUMMARY = "view_summary"
DIFFERENCES = "differing_rows"
PATH_LETTERS = frozenset(ascii_letters + digits + "_-+:")
SUMMARY_SCHEMA = (
    "view string, ok boolean, missing bigint, unexpected bigint, rows bigint, versions string, "
    "seconds double, full_seconds double"
)
DIFFERENCES_SCHEMA = "view string, side string, copies bigint, content string"


@dataclass(frozen=True, slots=True)
class QualityResult:
    """``ok``: every expectation held; ``docs_index``: the first page of the Data Docs."""

    ok: bool
    docs_index: Path


def publish(reports: Sequence[ValidationReport], spark: SparkSession, folder: Path, run_name: str) -> QualityResult:
    """Judge the reports and add the run to the Data Docs under ``folder``; ``run_name`` is shown with every run.

    Runs of several processes are written one after the other: the context's files and the index are shared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(str(folder / ".lock")):
        return _publish(reports, spark, folder, run_name)


def summary_rows(reports: Sequence[ValidationReport]) -> list[tuple[Any, ...]]:
    """One row a view, in the order of SUMMARY_SCHEMA."""
    return [
        (
            report.view,
            report.ok,
            report.missing_count,
            report.unexpected_count,
            report.rows,
            json.dumps(report.versions, sort_keys=True),
            report.seconds,
            report.full_seconds,
        )
        for report in reports
    ]


def difference_rows(reports: Sequence[ValidationReport]) -> list[tuple[str, str, int, str]]:
    """The sampled differing rows, in the order of DIFFERENCES_SCHEMA; as text, since every view has its own columns."""
    return [
        (report.view, side, row.copies, _content(row))
        for report in reports
        for side, rows in (("missing", report.missing), ("unexpected", report.unexpected))
        for row in rows
    ]


def _publish(reports: Sequence[ValidationReport], spark: SparkSession, folder: Path, run_name: str) -> QualityResult:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    # Great Expectations takes seven seconds to import; only a run that validates pays for it.
    import great_expectations as gx
    from great_expectations import expectations as expect

    context = gx.get_context(mode="file", project_root_dir=str(folder))
    context.variables.progress_bars = {"globally": False}
    # persist=True would keep every batch in the executors' memory for as long as the session lives.
    source = context.data_sources.add_or_update_spark("validation", persist=False)
    summary = spark.createDataFrame(summary_rows(reports), SUMMARY_SCHEMA)
    differences = spark.createDataFrame(difference_rows(reports), DIFFERENCES_SCHEMA)
    views = sorted(report.view for report in reports)
    judged = [
        _judge(
            context,
            source,
            SUMMARY,
            summary,
            [
                expect.ExpectColumnDistinctValuesToEqualSet(column="view", value_set=views),
                expect.ExpectColumnValuesToBeInSet(column="ok", value_set=[True], severity="critical"),
                expect.ExpectColumnValuesToBeInSet(column="missing", value_set=[0], severity="critical"),
                expect.ExpectColumnValuesToBeInSet(column="unexpected", value_set=[0], severity="critical"),
            ],
            run_name,
        ),
        _judge(
            context,
            source,
            DIFFERENCES,
            differences,
            [
                expect.ExpectTableRowCountToEqual(value=0, severity="critical"),
                expect.UnexpectedRowsExpectation(
                    unexpected_rows_query="SELECT view, side, copies, content FROM {batch} ORDER BY view, side",
                    description="No row of the defining query is missing from its view, and none is there unasked.",
                ),
            ],
            run_name,
        ),
    ]
    context.build_data_docs()
    return QualityResult(all(judged), folder / "gx" / "uncommitted" / "data_docs" / "local_site" / "index.html")


def _judge(context: Any, source: Any, name: str, frame: DataFrame, expectations: list[Any], run_name: str) -> bool:
    """One checkpoint run: a checkpoint hands the same batch to all of its definitions, so each batch has its own."""
    import great_expectations as gx
    from great_expectations.core.run_identifier import RunIdentifier

    if name in source.get_asset_names():
        source.delete_asset(name)
    batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe("whole")
    suite = context.suites.add_or_update(gx.ExpectationSuite(name=name, expectations=expectations))
    definition = gx.ValidationDefinition(name=name, data=batch, suite=suite)
    definition = context.validation_definitions.add_or_update(definition)
    checkpoint = context.checkpoints.add_or_update(
        gx.Checkpoint(name=name, validation_definitions=[definition], result_format={"result_format": "SUMMARY"})
    )
    run_id = RunIdentifier(run_name=_path_part(run_name))
    return bool(checkpoint.run(batch_parameters={"dataframe": frame}, run_id=run_id).success)


def _path_part(name: str) -> str:
    """Great Expectations makes a folder of the run's name; the name may come from a request."""
    return "".join(letter if letter in PATH_LETTERS else "-" for letter in name)[:120]


def _content(row: DifferingRow) -> str:
    return json.dumps(row.row, default=str, ensure_ascii=False)
