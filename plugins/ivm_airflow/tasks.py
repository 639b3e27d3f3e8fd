"""The four tasks of a group run: each calls use cases of ``ivm_core`` and passes on versions, counts and paths.

A task may run any number of times: the cut is a function of the run's instant, a batch is bound to its versions, and a
report replaces itself. What goes wrong leaves as one of ``failures``, so that Airflow retries only what can pass.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ivm_airflow.deployment import Placed, note_documented, opened_engine, reports_folder
from ivm_airflow.failures import Permanent, failure_of, failure_of_views
from ivm_airflow.lineage import remember_lineage
from ivm_airflow.packing import (
    earlier_repairs,
    pack_check,
    pack_cut,
    pack_report,
    unpack_cut,
    with_earlier_tries,
)
from ivm_airflow.request import RunRequest, check_heard, moves_when_cleared, parse_request, rewind_to, target
from ivm_airflow.schedule import answers, views_due
from ivm_airflow.slug import dag_id
from ivm_airflow.stated import broken_of, stated_of, unmet

if TYPE_CHECKING:
    from ivm_core import Engine
    from ivm_core.errors import IvmError
    from ivm_core.validate.model import ValidationReport


def cut(group: str, **context: Any) -> dict[str, Any]:
    """Fix the table versions that the run ends at; skip the run where every view is there and nothing else is due."""
    from airflow.sdk.exceptions import AirflowSkipException

    check_heard(context)
    with opened_engine() as engine:
        views, request = _asked(engine, group, context)
        rewind_to(request, context)  # refused here, before anything is done
        fixed = engine.cut(views, as_of=target(request, context))
        behind = engine.pending(fixed, views)
        due = views if request.measure_full else views_due(engine, group, views)
    if not behind and not due and not request.forced:
        raise AirflowSkipException(f"Every view of {group} stands at its target, and no validation is due.")
    return {**pack_cut(fixed), "behind": list(behind), "validate": list(due)}


def maintain(group: str, placed: Placed | None = None, **context: Any) -> None:
    """Bring the views to the cut. A view that fails stops only what reads it; the task then fails, and says which.

    ``placed``: where Spark is, for a program that has no connection of Airflow's.
    """
    ti = context["ti"]
    fixed = _cut_of(ti)
    with opened_engine(placed) as engine:
        views, request = _asked(engine, group, context)
        run_id = _attempt_id(context, request)
        found = engine.maintain(
            views,
            as_of=rewind_to(request, context),
            policy=request.policy,
            cut=unpack_cut(fixed),
            run_id=run_id,
            raise_errors=False,
            mode="rewind" if request.rewinds else "catch_up",
        )
        reports = with_earlier_tries(engine, [pack_report(report) for report in found], run_id)
        remember_lineage(engine, ti, reports)
    ti.xcom_push(key="reports", value=reports)
    failure = failure_of(reports)
    if failure is not None:
        raise failure


def validate(group: str, **context: Any) -> None:
    """Compare the views that are due with their queries at the same versions; publish the findings as Data Docs.

    Views that changed are told of as assets, unless one differs: then of none, and readers keep what they have.
    """
    conclude(compare(group, **context), context)


def conclude(reports: list[dict[str, Any]], context: dict[str, Any]) -> None:
    """Tell of the views that changed, and leave word that the validation went through to its end."""
    # Here: programs that a task submits import this module, and a task's environment lets nobody import Airflow anew.
    from ivm_airflow.assets import announce

    announce(reports, context)
    context["ti"].xcom_push(key="finished", value=True)


def compare(group: str, placed: Placed | None = None, **context: Any) -> list[dict[str, Any]]:
    """The part of ``validate`` that computes; returns the reports of what the run did to the views, repairs among them."""
    ti = context["ti"]
    reports = list(ti.xcom_pull(task_ids="maintain", key="reports") or ())
    if due := due_views(ti):
        return reports + _compare(group, due, placed, context)
    ti.xcom_push(key="checks", value=[])
    return reports


def due_views(ti: Any) -> list[str]:
    """The views that the run validates: those that are due, but for those that failed, and those whose batch met a difference.

    The latter are compared only where they want to be repaired.
    """
    reports = ti.xcom_pull(task_ids="maintain", key="reports") or ()
    failed = {report["view"] for report in reports if report["error"]}
    return [view for view in _cut_of(ti)["validate"] if view not in failed] + _drifted_views(ti)


def _drifted_views(ti: Any) -> list[str]:
    """The views whose state did not fit their batch."""
    reports = ti.xcom_pull(task_ids="maintain", key="reports") or ()
    return [report["view"] for report in reports if report["error"] and report.get("error_code") == "DRIFT"]


def _compare(group: str, due: list[str], placed: Placed | None, context: dict[str, Any]) -> list[dict[str, Any]]:
    """Validate the views, repair those that want it, and return the repairs' reports."""
    from ivm_core.engine.quality import publish

    ti = context["ti"]
    with opened_engine(placed) as engine:
        _, request = _asked(engine, group, context)
        run_id = _run_id(context)
        tolerant, repairing = _on_drift(engine, group, "warn"), _on_drift(engine, group, "repair")
        met = set(_drifted_views(ti))
        due = [view for view in due if view in repairing or view not in met]
        if not due:
            ti.xcom_push(key="checks", value=[])
            return []
        checks, failures = _validated(engine, due, request, run_id)
        # First for the report, which is written whatever fails from here on.
        ti.xcom_push(key="checks", value=[pack_check(check, check.view in tolerant) for check in checks])
        ti.xcom_push(key="uncompared", value={view: error.message for view, error in failures.items()})
        if not checks:
            raise _uncompared(failures, len(due))
        quality = reports_folder() / "quality"
        note_documented(dag_id(group))
        result = publish(checks, engine.spark, quality, run_id, stated_of(engine, due))
        ti.xcom_push(key="docs", value=str(result.docs_index))
        # What a batch met may be in hidden columns, or outside of the sample.
        earlier = earlier_repairs(engine, repairing & {check.view for check in checks}, run_id)
        wrong = [
            check.view
            for check in checks
            if check.view in repairing and (not check.ok or check.view in met - earlier.keys())
        ]
        mended_now = {view: engine.repair(view, run_id) for view in wrong}
        repairs = earlier | {view: pack_report(report) for view, report in mended_now.items()}
        broken = [item for item in result.broken if item.view not in mended_now]
        if mended_now:
            # What was repaired is judged again: the findings published above are those before.
            again = {view: engine.validate(view, run_id=run_id) for view in mended_now}
            checks = [again.get(check.view, check) for check in checks]
            mended = publish(list(again.values()), engine.spark, quality, run_id, stated_of(engine, again))
            broken += mended.broken
        packed = [
            {
                **pack_check(check, check.view in tolerant, repairs.get(check.view)),
                "broken": broken_of(check.view, broken),
            }
            for check in checks
        ]
        ti.xcom_push(key="checks", value=packed)
        mends = list(repairs.values())
        remember_lineage(engine, ti, mends)
    if drifted := [check.view for check in checks if not check.ok and check.view not in tolerant]:
        raise Permanent(f"The contents of {', '.join(drifted)} differ from the query's. See {result.docs_index}")
    if failing := unmet(broken, tolerant):
        raise Permanent(f"{', '.join(failing)} do not meet their expectations. See {result.docs_index}")
    if failures:
        raise _uncompared(failures, len(due))
    return mends


def _validated(
    engine: Engine, due: list[str], request: RunRequest, run_id: str
) -> tuple[list[ValidationReport], dict[str, IvmError]]:
    """The outcome of each view that could be compared with its query, and why the others could not."""
    from ivm_core.errors import IvmError

    checks, failures = [], {}
    for view in due:
        try:
            checks.append(engine.validate(view, measure_full=request.measure_full, run_id=run_id))
        except IvmError as error:
            failures[view] = error
    return checks, failures


def _uncompared(failures: dict[str, IvmError], due: int) -> Exception:
    causes = [(view, error.code, error.message) for view, error in failures.items()]
    return failure_of_views(causes, f"{len(failures)} of {due} views were not compared")


def report(group: str, **context: Any) -> dict[str, Any]:
    """Write the run's report as JSON and as a page. Fails, and the run with it, where a view failed or drifted."""
    from ivm_airflow.report import TROUBLES, build_report, summary, write_report
    from ivm_core.plan.clock import CLOCK

    ti = context["ti"]
    fixed = _cut_of(ti)
    # Checked by `cut`; without the catalogue, which may be what failed the run, or have lost a view since.
    request = parse_request(context["params"], [name.lower() for name in context["params"].get("views") or ()])
    run = {
        "run_id": _run_id(context),
        "group": group,
        "mode": request.mode,
        "reason": request.reason,
        "as_of": fixed["as_of"],
        "versions": {table: version for table, _, version in fixed["versions"] if table != CLOCK},
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    left = {
        task: ti.xcom_pull(task_ids=task, key=key) for task, key in (("maintain", "reports"), ("validate", "checks"))
    }
    document = build_report(
        run,
        left["maintain"] or (),
        left["validate"] or (),
        uncompared=ti.xcom_pull(task_ids="validate", key="uncompared") or {},
        docs=ti.xcom_pull(task_ids="validate", key="docs"),
        unfinished=[task for task, found in left.items() if found is None],
        validated_to_end=bool(ti.xcom_pull(task_ids="validate", key="finished")),
    )
    data, page = write_report(document, reports_folder())
    numbers = {**summary(document), "json": str(data), "page": str(page)}
    if not document["ok"]:
        ti.xcom_push(key="return_value", value=numbers)
        named = (f"{what}: {', '.join(document[what])}" for what in TROUBLES if document[what])
        raise Permanent(f"{'; '.join(named)}. See {page}")
    return numbers


def _asked(engine: Engine, group: str, context: dict[str, Any]) -> tuple[list[str], RunRequest]:
    """The views that the run is about, in the group and in the catalogue, and the rest of its checked parameters."""
    registered = [view.name for view in engine.catalog.views(group)]
    request = parse_request(context["params"], registered)
    return (registered if request.views is None else list(request.views)), request


def _attempt_id(context: dict[str, Any], request: RunRequest) -> str:
    """The run's id for its batches and its cut.

    Tried again, a run does not go back or compute a view anew a second time, and ends where it was to end; cleared it does,
    and goes on to where its tables stand by then where assets started it.
    """
    cleared = getattr(context.get("dag_run"), "clear_number", 0) or 0
    again = cleared and (request.repeats or moves_when_cleared(request, context))
    return f"{_run_id(context)} (cleared {cleared})" if again else _run_id(context)


def _on_drift(engine: Engine, group: str, answer: str) -> set[str]:
    """The views of the group whose ``ivm.on_drift`` is the answer."""
    return {view.name for view in engine.catalog.views(group) if answers(view, answer)}


def _run_id(context: dict[str, Any]) -> str:
    return str(context["run_id"])


def _cut_of(ti: Any) -> dict[str, Any]:
    """What the run's first task fixed. Raises Permanent where it did not get so far."""
    fixed = ti.xcom_pull(task_ids="cut")
    if fixed is None:
        raise Permanent("The task `cut` left nothing to go on with: see its log.")
    return dict(fixed)
