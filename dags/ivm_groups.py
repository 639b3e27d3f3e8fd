"""One Airflow DAG per maintenance group: cut → maintain → validate → report, built from the compiled manifest alone."""

from datetime import UTC, datetime, timedelta

from airflow.sdk import DAG, ExceptionRetryPolicy, RetryAction, RetryRule, get_parsing_context, task
from airflow.sdk.configuration import conf
from ivm_airflow import assets, tasks, timing
from ivm_airflow.computing import computing_task
from ivm_airflow.failures import Concurrent, Permanent
from ivm_airflow.links import DataDocsLink, ReportLink
from ivm_airflow.manifest import Group, read_groups
from ivm_airflow.params import group_doc, group_params
from ivm_airflow.slug import dag_id
from ivm_airflow.telling import tell_failed

RETRIES = {
    "retries": 3,
    "retry_delay": timedelta(seconds=30),
    "retry_exponential_backoff": True,
    "retry_policy": ExceptionRetryPolicy(
        rules=[
            RetryRule(Concurrent, RetryAction.RETRY, timedelta(seconds=5), "another commit came first"),
            RetryRule(Permanent, RetryAction.FAIL, reason="no retry can pass"),
        ]
    ),
}
DEFAULTS = {**RETRIES, "on_failure_callback": tell_failed}
POOL = conf.get("ivm", "pool", fallback="default_pool")


def build(group: Group) -> DAG:
    """The DAG of one group; the same manifest gives the same DAG, whenever and wherever it is parsed."""
    with DAG(
        dag_id(group.name),
        description=f"Keeps {len(group.views)} incremental views up to date",
        doc_md=group_doc(group),
        schedule=timing.timetable(group),
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        deadline=timing.deadline(group),
        params=group_params(group),
        default_args=DEFAULTS,
        tags=["ivm"],
    ) as dag:
        cut = task(tasks.cut)(group.name)
        maintain = computing_task("maintain", group.name, max_active_tis_per_dag=1, pool=POOL)
        told = {"inlets": assets.inlets(group), "outlets": assets.outlets(group)}
        validate = computing_task("validate", group.name, trigger_rule="none_skipped", pool=POOL, **told)
        report = task(tasks.report, trigger_rule="none_skipped")(group.name)
        validate.operator_extra_links = (DataDocsLink(),)
        report.operator.operator_extra_links = (ReportLink(),)
        cut >> maintain >> validate >> report
    return dag


for group in read_groups():
    if get_parsing_context().dag_id in (None, dag_id(group.name)):
        globals()[dag_id(group.name)] = build(group)
