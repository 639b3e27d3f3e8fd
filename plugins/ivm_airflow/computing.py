"""The tasks that compute: in the task's own process, or in a program that the provider's SparkSubmitOperator starts."""

from __future__ import annotations

from typing import Any

from airflow.sdk.configuration import conf

from ivm_airflow import tasks

STEPS = {"maintain": tasks.maintain, "validate": tasks.validate}


def computing_task(step: str, group: str, **options: Any) -> Any:
    """The task ``maintain`` or ``validate`` of a group, by ``[ivm] submit`` of Airflow's configuration."""
    if conf.getboolean("ivm", "submit", fallback=False):
        # The provider is imported by those who want it: a DAG is parsed faster without.
        from ivm_airflow.submit import SubmittedTask

        return SubmittedTask(task_id=step, group=group, **options)
    from airflow.sdk import task

    return task(STEPS[step], **options)(group).operator
