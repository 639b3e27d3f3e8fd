"""Adapter: Great Expectations judges validation reports and publishes them as Data Docs.

The comparison itself is made in Spark; here its findings become two batches: a summary (one row a view) and the
differing rows. Great Expectations states what must hold of them, keeps every run and renders the pages.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from ivm_core.engine.failures import SPARK_FAILURES
from ivm_core.engine.queries import is_connect
from ivm_core.settings import in_one_paragraph
from ivm_core.validate.expectations import Expectation
from ivm_core.validate.model import BrokenExpectation, DifferingRow, ValidationReport

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

logger = logging.getLogger(__name__)
SUMMARY = "view_summary"
DIFFERENCES = "differing_rows"
_CONNECT_FUNCTIONS = "SPARK_CONNECT_MODE_ENABLED"  # read by pyspark
PATH_LETTERS = frozenset(ascii_letters + digits + "_-+:")
SUMMARY_SCHEMA = (
    "view string, ok boolean, missing bigint, unexpected bigint, rows bigint, versions string, "
    "seconds double, full_seconds double"
)
DIFFERENCES_SCHEMA = "view string, side string, copies bigint, content string"


@dataclass(frozen=True, slots=True)
class Stated:
    """What users state of a view's ``rows``."""

    view: str
    rows: DataFrame
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class QualityResult:
    """``ok``: every expectation held; ``docs_index``: the first page of the Data Docs; ``broken``: of users' own."""

    ok: bool
    docs_index: Path
    broken: tuple[BrokenExpectation, ...] = ()


def publish(
    reports: Sequence[ValidationReport],
    spark: SparkSession,
    folder: Path,
    run_name: str,
    stated: Sequence[Stated] = (),
) -> QualityResult:
    """Judge the reports and add the run to the Data Docs under ``folder``; ``run_name`` is shown with every run.

    ``stated``: users' own expectations, which are judged by the views' rows.

    Runs of several processes are written one after the other: the context's files and the index are shared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(str(folder / ".lock")), _functions_of(spark):
        try:
            return _publish(reports, spark, folder, run_name, stated)
        except SPARK_FAILURES:
            raise
        except Exception as error:
            logger.warning("The Data Docs are written again, without what cannot be read: %s", in_one_paragraph(error))
            _remove_unreadable(folder)
            return _publish(reports, spark, folder, run_name, stated)


def _remove_unreadable(folder: Path) -> None:
    """Remove what a killed process or a full disk left half written, and would fail every later run.

    All but the results of runs is written anew; a configuration that is cut off may still be YAML.
    """
    root = folder / "gx"
    for file in (root / "great_expectations.yml", root / "uncommitted" / "config_variables.yml", *root.rglob("*.json")):
        if file.suffix != ".json" or not _is_json(file):
            file.unlink(missing_ok=True)


def _is_json(file: Path) -> bool:
    try:
        json.loads(file.read_bytes())
    except ValueError:
        return False
    return True


@contextmanager
def _functions_of(spark: SparkSession) -> Iterator[None]:
    """``pyspark.sql.functions``, which Great Expectations calls, build expressions for one kind of session by this variable."""
    if not is_connect(spark) or _CONNECT_FUNCTIONS in os.environ:
        yield
        return
    os.environ[_CONNECT_FUNCTIONS] = "1"
    try:
        yield
    finally:
        del os.environ[_CONNECT_FUNCTIONS]


def docs_site(folder: Path) -> Path:
    """Where the pages of the Data Docs are that ``publish`` makes under ``folder``; beside them is its configuration."""
    return folder / "gx" / "uncommitted" / "data_docs" / "local_site"


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


def _publish(
    reports: Sequence[ValidationReport], spark: SparkSession, folder: Path, run_name: str, stated: Sequence[Stated]
) -> QualityResult:
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
        ).success,
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
        ).success,
    ]
    broken = [item for view in stated for item in judge_rows(context, source, view, run_name)]
    context.build_data_docs()
    return QualityResult(all(judged) and not broken, docs_site(folder) / "index.html", tuple(broken))


def _judge(context: Any, source: Any, name: str, frame: DataFrame, expectations: list[Any], run_name: str) -> Any:
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
    return checkpoint.run(batch_parameters={"dataframe": frame}, run_id=run_id)


def _path_part(name: str) -> str:
    """Great Expectations makes a folder of the run's name; the name may come from a request."""
    return "".join(letter if letter in PATH_LETTERS else "-" for letter in name)[:120]


def _content(row: DifferingRow) -> str:
    return json.dumps(row.row, default=str, ensure_ascii=False)


def judge_rows(context: Any, source: Any, stated: Stated, run_name: str) -> list[BrokenExpectation]:
    """Judge a view's rows by its users' expectations; those that do not hold, or cannot be judged, in their order."""
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    broken, made = [], []
    for item in stated.expectations:
        more = {"notes": item.note} if item.note else {}
        configuration = ExpectationConfiguration(type=item.type, kwargs=item.kwargs, severity=item.severity, **more)
        try:
            made.append(configuration.to_domain_obj())
        except (TypeError, ValueError) as error:
            broken.append(_broken(stated.view, item, f"cannot be judged: {error}"))
    if not made:
        return broken
    result = _judge(context, source, f"rows-{_path_part(stated.view)}", stated.rows, made, run_name)
    for suite in result.run_results.values():
        for outcome in suite.results:
            if not outcome.success:
                found = outcome.expectation_config
                item = Expectation(found.type, dict(found.kwargs), found.severity.value)
                broken.append(_broken(stated.view, item, _outcome(outcome)))
    return broken


def _broken(view: str, item: Expectation, detail: str) -> BrokenExpectation:
    return BrokenExpectation(view, item.type, item.columns, item.severity, detail[:500])


def _outcome(outcome: Any) -> str:
    """The number that says most, of those that Great Expectations gives."""
    raised = [info for info in (outcome.exception_info or {}).values() if isinstance(info, dict)]
    for info in (outcome.exception_info or {}, *raised):
        if info.get("raised_exception"):
            return f"cannot be judged: {info.get('exception_message')}"
    numbers = outcome.result or {}
    if numbers.get("unexpected_count") is not None:
        return f"{numbers['unexpected_count']} of {numbers.get('element_count', 'all')} rows"
    return f"observed {numbers.get('observed_value')}"
